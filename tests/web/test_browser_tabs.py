"""Games in two tabs of one browser."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from tests.web.browsing import Visitor, needs_browser, wait_for_form, wait_for_turn

pytestmark = needs_browser

SEAT = "/?mode=seat&pack=classic&scenario=mystery&tier=hard&role=oversight&partners=heuristic&seed="


def say_something(page: Page, seed: int) -> None:
    page.goto(f"{SEAT}{seed}")
    wait_for_turn(page)
    page.get_by_label("Say something").fill(f"I play seed {seed}")
    page.get_by_role("button", name="Say it").click()
    expect(page.locator("#seat")).to_contain_text(f"I play seed {seed}")
    wait_for_turn(page)


def test_games_in_two_tabs_are_both_kept(browser: Browser, site: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        say_something(page, 5)
        other = visitor.context.new_page()
        say_something(other, 6)
        other.close()
        page.goto("/")
        wait_for_form(page)
        lines = page.locator(".unfinished")
        expect(lines).to_have_count(2)
        expect(lines.first).to_contain_text("classic · mystery · hard · seed 6")  # the latest
        expect(lines.last).to_contain_text("seed 5")
        lines.first.get_by_role("button", name="Forget it").click()
        expect(lines).to_have_count(1)
        lines.get_by_role("link", name="Go on with it").click()
        wait_for_turn(page)
        expect(page.locator("#seat")).to_contain_text("I play seed 5")


def test_only_the_last_games_are_offered(browser: Browser, site: str) -> None:
    keep = """seed => localStorage.setItem(`chaosops-game seed=${seed}`,
        JSON.stringify({ address: `?mode=seat&seed=${seed}`, at: seed }))"""
    with Visitor(browser, site) as page:
        page.goto("/results")
        for seed in range(1, 6):
            page.evaluate(keep, seed)
        page.evaluate("localStorage.setItem('chaosops-game x', 'no game')")
        page.goto("/")
        wait_for_form(page)
        expect(page.locator(".unfinished span")).to_have_text(
            [f"You have not finished a game: seed {seed}." for seed in (5, 4, 3)]
        )
