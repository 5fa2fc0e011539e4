"""What a visitor does by mistake, what the server refuses, and screens that are small or unseen."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.web.browsing import (
    LINK,
    Visitor,
    episodes_asked_for,
    expect_in_address,
    expect_totals,
    hold,
    needs_browser,
    release,
    reward,
    to_the_end,
    wait_for_turn,
)

pytestmark = needs_browser

TWINS = LINK.replace("left=random", "left=heuristic")
NO_CLIPBOARD = "navigator.clipboard.writeText = () => Promise.reject(new Error('not here'))"


def test_a_click_before_the_page_is_ready_is_not_a_form_sent(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        catalogue = hold(page, "**/catalogue")
        page.goto("/")
        # The first paint waits for no data.
        page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
        page.locator("#advanced summary").first.click()
        place = page.locator("#go").bounding_box()
        assert place is not None
        page.mouse.click(place["x"] + 5, place["y"] + 5)
        page.locator("#seed").evaluate("field => field.focus()")
        page.keyboard.press("Enter")
        page.wait_for_timeout(200)
        assert page.url == site + "/"
        release(page, catalogue)
        page.click("#go")
        expect(page.locator("#run-title")).to_contain_text("seed 42")
        expect_in_address(page, "seed=42")
        assert "split" not in page.url


def test_a_refusal_ends_its_own_side_at_once(browser: Browser, site: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        other = hold(page, re.compile("policy=heuristic"))
        page.goto("/?left=nope&right=heuristic")
        refused = page.locator("#side-0 .banner")
        expect(refused).to_contain_text("REFUSED")
        expect(refused).to_contain_text("unknown policy 'nope'")
        expect(page.locator("#announce")).to_contain_text("nope is refused")
        release(page, other)
        to_the_end(page)
        expect(refused).to_contain_text("REFUSED")
        expect_totals(page, reward("heuristic"))
        expect(page.locator("#notice")).to_be_hidden()
        visitor.forgive("400")


def test_the_same_team_twice_is_announced_twice(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/" + TWINS)
        to_the_end(page)
        for side in ("left", "right"):
            expect(page.locator("#announce")).to_contain_text(
                f"heuristic on the {side}: resolved in 3 steps"
            )


def test_a_key_pressed_by_mistake_costs_no_game(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        with page.expect_request("**/api/seats*") as asked:
            page.goto("/?mode=seat&seed=5")
        # What a seat has without an incident.
        expect(page.locator("#scenario")).to_have_value("mystery")
        assert parse_qs(urlsplit(asked.value.url).query)["scenario"] == ["mystery"]
        page.get_by_label("Say something").fill("I watch deploy_bot")
        page.get_by_role("button", name="Say it").click()
        expect(page.locator("#seat")).to_contain_text("I watch deploy_bot")
        wait_for_turn(page)
        page.locator("body").press("r")
        page.get_by_role("button", name="Do nothing").click()
        expect(page.locator("#run:visible, .your-turn.now:visible").first).to_be_visible()
        expect(page.locator("#seat, #run").filter(visible=True)).to_contain_text(
            "I watch deploy_bot"
        )


def test_of_many_quick_runs_the_last_is_played(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        asked = episodes_asked_for(page)
        page.goto("/" + LINK)
        expect(page.locator("#run-title")).to_contain_text("seed 42")
        page.evaluate("for (let i = 0; i < 10; i += 1) document.getElementById('go').click()")
        to_the_end(page)
        expect_totals(page, reward("random"), reward("heuristic"))
        assert len(asked) <= 4
        assert page.evaluate("history.length") <= 2, "Back leads somewhere else"


def test_an_empty_seed(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/?seed=&left=heuristic&right=")
        expect(page.locator("#run-title")).to_contain_text("seed 42")
        to_the_end(page)
        expect_totals(page, reward("heuristic"))
        page.fill("#seed", " ")
        page.click("#go")
        expect(page.locator("#notice")).to_contain_text("seed must be a whole number from 0 to")
        expect(page.locator("#seed")).to_be_focused()
        expect_totals(page, reward("heuristic"))  # what is shown stays


def test_where_nothing_can_be_copied_the_link_is_selected(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.add_init_script(NO_CLIPBOARD)
        page.goto("/" + LINK)
        page.get_by_role("button", name="Copy link").click()
        field = page.get_by_label("Link to this run")
        expect(field).to_be_focused()
        expect(field).to_have_value(page.url)
        assert page.evaluate("getSelection().toString()") == page.url


def test_whatever_the_server_says_is_shown(browser: Browser, site: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        words = {"detail": "the request is too large"}
        page.route("**/api/results", lambda route: route.fulfill(status=413, json=words))
        page.goto("/results")
        expect(page.locator("#notice")).to_contain_text("the request is too large")
        visitor.forgive("413")


def test_a_mistyped_address_leads_home(browser: Browser, site: str) -> None:
    visitor = Visitor(browser, site, bypass_csp=True, color_scheme="light")
    with visitor as page:
        page.goto("/results/of/last/year")
        expect(page.get_by_role("heading")).to_have_text("There is no page at this address")
        schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
        page.get_by_role("link", name="Run an incident").click()
        expect(page.locator("#advanced")).to_be_visible()
        visitor.forgive("404")
