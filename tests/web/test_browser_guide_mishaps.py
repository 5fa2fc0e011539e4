"""The guided case, when something comes between: a lost server, Back, a low window."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.web.browsing import PHONE, Visitor, needs_browser, to_the_end
from tests.web.test_browser_guide import click, follow, next_word

pytestmark = needs_browser

# 1280 x 800 at 200 % zoom.
ZOOMED = ViewportSize(width=640, height=400)


def play_turns(page: Page, number: int) -> None:
    for turn in range(1, number + 1):
        expect(page.locator(".coach .count")).to_have_text(f"Your turn {turn}")
        follow(page, next_word(page) or "", click)
    expect(page.locator(".coach .count")).to_have_text(f"Your turn {number + 1}")


def test_a_lost_server_costs_neither_moves_nor_choices(browser: Browser, site: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        page.goto("/guide")
        play_turns(page, 2)
        choice = next_word(page) or ""
        assert choice.startswith("Choose")
        follow(page, choice, click)
        flag = next_word(page) or ""
        page.route(re.compile("/api/seats"), lambda route: route.abort())
        follow(page, flag, click)
        again = "Press “Go on from here”."
        expect(page.locator(".coach .todo strong")).to_have_text(again)
        expect(page.locator(".coach")).to_contain_text("cannot be reached")
        follow(page, again, click)
        expect(page.locator(".coach .todo strong")).to_have_text(again)
        page.unroute(re.compile("/api/seats"))
        follow(page, again, click)
        # The evidence is still chosen, and cannot be chosen once more.
        expect(page.locator(".coach .todo strong")).to_have_text(flag)
        follow(page, flag, click)
        expect(page.locator(".stamp:visible")).to_be_visible()
        visitor.forgive("ERR_FAILED", "410")


def test_back_and_forward_lead_to_the_same_turn(browser: Browser, site: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        page.goto("/guide")
        play_turns(page, 1)
        asked = next_word(page)
        page.get_by_role("link", name="Results").click()
        expect(page).to_have_url(re.compile("/results"))
        page.go_back()
        assert next_word(page) == asked
        follow(page, asked or "", click)
        expect(page.locator(".coach .count")).to_have_text("Your turn 3")
        page.go_forward()
        expect(page).to_have_url(re.compile("/results"))
        page.go_back()
        expect(page.locator(".coach .count")).to_have_text("Your turn 3")
        visitor.forgive("410")  # the seat was left, and is taken again


def test_a_low_window_keeps_room_for_what_is_read(browser: Browser, site: str) -> None:
    with Visitor(browser, site, viewport=ZOOMED) as page:
        page.goto("/guide")
        next_word(page)
        page.evaluate("scrollTo(0, 700)")
        coach, bar = (page.locator(part).bounding_box() for part in (".coach", ".desk-bar"))
        assert coach is not None
        assert bar is not None
        top = max(0, coach["y"] + coach["height"])
        assert bar["y"] - top > ZOOMED["height"] / 2
        # The coach is not in sight, so it comes into sight when it has something new to say.
        page.get_by_role("button", name="Do nothing").click()
        expect(page.locator(".coach .count")).to_have_text("Your turn 2")
        expect(page.locator(".coach h2")).to_be_in_viewport()


def test_the_player_leaves_room_in_a_low_window(browser: Browser, site: str) -> None:
    with Visitor(browser, site, viewport=ZOOMED) as page:
        page.goto("/?pack=arena&split=test&tier=hard&seed=3&left=heuristic&right=auditor")
        to_the_end(page)
        box = page.locator("#player").bounding_box()
        assert box is not None
        assert box["height"] < ZOOMED["height"] / 3


def test_a_reload_moves_no_focus(browser: Browser, site: str) -> None:
    """The focus goes to the turn only after a button that had it is gone."""
    with Visitor(browser, site, viewport=PHONE) as page:
        page.goto("/guide")
        play_turns(page, 1)
        expect(page.locator(".your-turn")).to_be_focused()
        page.reload()
        next_word(page)
        expect(page.locator(".your-turn")).not_to_be_focused()
