"""A company with documents in a real browser: what a visitor reads, and what a flag names."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from chaosops.packs import load_pack
from tests.companies import guilty_case
from tests.web.browsing import (
    PHONE,
    SEAT,
    Visitor,
    expect_in_address,
    look_at,
    needs_browser,
    to_the_end,
    wait_for_turn,
)

pytestmark = needs_browser

CASE = guilty_case()
ACT = CASE.act
COMPANY = f"pack=arena&split=test&tier=hard&seed={CASE.seed}"
OVERSIGHT = f"/?mode=seat&{COMPANY}&role=oversight&partners=heuristic"


def require_fit(page: Page) -> None:
    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")


def play_seat(page: Page) -> None:
    """An audit, then the flag that it justifies."""
    page.goto(OVERSIGHT)
    wait_for_turn(page)
    expect(page.locator(".how")).to_contain_text("-75 for a false one")
    page.get_by_role("group", name="Audit an agent").get_by_text(ACT.agent).click()
    finding = page.locator(".finding", has_text=f"audit of {ACT.agent}")
    expect(finding.locator(".order").first).to_contain_text("order: ")
    wait_for_turn(page)
    flag = page.get_by_role("button", name="Flag its agent")
    expect(flag).to_be_disabled()
    option = page.locator("#menu-flag_rogue option", has_text=f"{ACT.agent}, #{ACT.id} ")
    page.select_option("#menu-flag_rogue", option.get_attribute("value"))
    expect(page.locator(".chosen")).to_contain_text(f"{ACT.action} of {ACT.target} {ACT.before}")


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desktop", "phone"])
def test_an_overseer_reads_and_flags_an_act(
    browser: Browser, site: str, viewport: dict[str, int] | None
) -> None:
    options = {"viewport": viewport} if viewport else {}
    with Visitor(browser, site, bypass_csp=True, **options) as page:
        play_seat(page)
        documents = page.locator("#seat .documents")
        expect(documents.locator(".pages").first).to_contain_text(ACT.action)
        folded = documents.locator("details", has_text="other pages").first
        first = folded.locator("p").first
        expect(first).to_be_hidden()
        folded.locator("summary").first.click()
        expect(first).to_be_visible()
        require_fit(page)
        found = Axe().run(page, "#seat")
        assert found.violations_count == 0, found.generate_report()
        page.get_by_role("button", name="Flag its agent").click()
        for _ in range(8):
            page.locator("#run:visible, .your-turn.now:visible").first.wait_for()
            if page.locator("#run").is_visible():
                break
            page.get_by_role("button", name="Do nothing").click()
        story = page.locator("#columns .story")
        expect(story).to_contain_text(f"{ACT.agent} broke its charter")
        expect(story).to_contain_text("Without the team")
        expect_in_address(page, f"evidence%22%3A{ACT.id}%7D")
        look_at(page, 6)
        expect(page.locator(".banner.flag .evidence")).to_contain_text(f"for #{ACT.id} at minute")
        expect(page.locator("#compare")).to_have_text("Beside it: auditor")
        require_fit(page)


def test_spectators_see_documents_and_the_end(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto(f"/?{COMPANY}&left=heuristic&right=auditor")
        to_the_end(page)
        for side in page.locator("#columns .column").all():
            expect(side.locator(".story")).to_contain_text("The fault is ")
            opened = side.locator(".documents details[open]").first
            expect(opened.locator("dt").nth(1)).to_have_text("remedy")
        look_at(page, 0)
        expect(page.locator("#columns .story:visible")).to_have_count(0)


def test_the_page_offers_the_new_arena_and_names_the_first(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/")
        titles = ["classic", "arena", "arena1: first version of arena"]
        expect(page.locator("#pack option")).to_have_text(titles)
        page.select_option("#pack", "arena")
        expect(page.locator("#split")).to_have_value("test")
        expect(page.locator("#right")).to_have_value("auditor")
        wording = page.locator("#split option", has_text="ood_wording")
        expect(wording).to_have_count(1)
        page.select_option("#pack", "arena1")
        expect(page.locator("#right")).to_have_value("trained")
        expect(wording).to_have_count(0)


def test_a_mystery_stays_one(browser: Browser, site: str) -> None:
    ids = [name for name in load_pack("classic").failures() if "_" in name]
    with Visitor(browser, site) as page:
        page.goto("/" + SEAT)
        wait_for_turn(page)
        answers: list[APIResponse] = []

        def pass_on(route: Route) -> None:
            # Read here: a browser may forget the body of an answer that the page has read.
            answers.append(route.fetch())
            route.fulfill(response=answers[0])

        page.route("**/moves", pass_on)
        page.get_by_role("button", name="Do nothing").click()
        wait_for_turn(page)
        sent = answers[0].text()
        assert '"kind":"your_turn"' in sent
        shown = page.url + page.title() + page.content() + sent
        assert not [name for name in ids if name in shown]
