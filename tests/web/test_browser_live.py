"""The button for a live run, in a browser, over companies that are no processes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from chaosops.packs.live import PACK
from chaosops.web import real_time
from chaosops.web.routes import Settings
from tests.web.browsing import (
    PHONE,
    POLICIES,
    Visitor,
    episodes_asked_for,
    expect_in_address,
    needs_browser,
    to_the_end,
    wait_for_form,
)
from tests.web.conftest import serving
from tests.web.live_companies import SLOWLY, Companies, allowed, until

pytestmark = needs_browser

BUSY = "an episode of pack live is being played; wait until it is over"
LINK = "?pack=live&split=fixed&tier=hard&seed=22&left=auditor&right=none"


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    with serving(Settings(policies=POLICIES, results=())) as where:
        yield where


@pytest.fixture
def companies() -> Iterator[Companies]:
    with allowed() as found:
        yield found


def start_one(page: Page) -> None:
    page.get_by_role("button", name="Start a live incident").click()


def test_there_is_no_button_by_default(browser: Browser, place: str) -> None:
    visitor = Visitor(browser, place)
    with visitor as page:
        page.goto("/")
        wait_for_form(page)
        expect(page.locator("#live")).to_be_hidden()
        assert "live" not in page.locator("#pack option").all_inner_texts()
        # A link starts nothing either, and says what would.
        page.goto("/" + LINK)
        expect(page.locator("#notice")).to_contain_text("chaosops serve --live")
        visitor.forgive("400")


def test_the_button_plays_an_incident_to_the_end(
    browser: Browser, place: str, companies: Companies
) -> None:
    companies.doors.clear()
    with Visitor(browser, place) as page:
        page.goto("/")
        wait_for_form(page)
        told = page.locator("#live")
        expect(told).to_contain_text("Real processes start on the machine of this server")
        expect(told).to_contain_text("a minute or two")
        expect(told).to_contain_text("Tier hard, seed 22, played by auditor: reads runbook")
        start_one(page)
        expect(told).to_be_hidden()
        expect_in_address(page, LINK)
        starting = page.locator("#side-0 .banner")
        expect(starting).to_contain_text(re.compile(r"The company starts, [1-9] s of about 15\."))
        expect(starting.get_by_role("progressbar", name="The company starts")).to_be_visible()
        expect(page.locator("#announce")).to_contain_text("auditor waits for the company to start")
        companies.doors.set()
        to_the_end(page)
        expect(page.locator("#run-title")).to_have_text("live · fixed · hard · seed 22")
        expect(page.locator("#side-0")).to_contain_text("Resolved in")
        expect(page.locator("#side-0 .status")).to_have_text("scripted")
        expect(page.locator("#case-files")).to_contain_text("requests of users failed")
        until(lambda: companies.closed == [1])


def test_a_second_visitor_gets_one_line(
    browser: Browser, place: str, companies: Companies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PACK, "pace", SLOWLY)
    first, visitor = Visitor(browser, place), Visitor(browser, place)
    with first as one, visitor as two:
        for page in (one, two):
            page.goto("/")
            wait_for_form(page)
        start_one(one)
        expect(one.locator("#where")).not_to_have_text(re.compile("^0 /"))
        start_one(two)
        expect(two.locator("#notice p")).to_have_text([f"Not possible: {BUSY}"])
        expect(two.locator("#live")).to_be_visible()
        expect(two.locator("#run")).to_be_hidden()
        assert len(companies.started) == 1
        visitor.forgive("400")


def test_who_closes_the_page_ends_the_company(
    browser: Browser, place: str, companies: Companies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PACK, "pace", SLOWLY)
    with Visitor(browser, place) as page:
        page.goto("/")
        wait_for_form(page)
        start_one(page)
        expect(page.locator("#where")).not_to_have_text(re.compile("^0 /"))
        page.close()
        until(lambda: companies.closed == [1])
        until(lambda: not real_time._playing)


def test_a_link_asks_before_it_starts_processes(
    browser: Browser, place: str, companies: Companies
) -> None:
    with Visitor(browser, place) as page:
        asked = episodes_asked_for(page)
        page.goto("/" + LINK)
        expect(page.locator(".invitation")).to_contain_text("Real processes start on the machine")
        page.locator("body").press("r")
        page.wait_for_timeout(300)
        assert (asked, companies.started) == ([], [])
        page.get_by_role("button", name="Start it").click()
        to_the_end(page)
        expect(page.locator("#side-0")).to_contain_text("Resolved in")
        page.reload()
        expect(page.locator(".invitation")).to_be_visible()
        assert len(companies.started) == 1


def test_a_run_whose_connection_was_cut_is_not_begun_again(
    browser: Browser, companies: Companies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be another one."""
    monkeypatch.setattr(PACK, "pace", SLOWLY)
    with serving(Settings(policies=POLICIES, results=())) as place:
        visitor = Visitor(browser, place)
        visitor.__enter__().goto("/")
        wait_for_form(visitor.page)
        start_one(visitor.page)
        expect(visitor.page.locator("#where")).not_to_have_text(re.compile("^0 /"))
    with visitor as page:
        page.select_option("#speed", "0")
        banner = page.locator("#side-0 .banner")
        expect(banner).to_contain_text("STOPPED")
        expect(banner).to_contain_text("its processes end with it")
        expect(banner.get_by_role("button")).to_have_count(0)
        assert len(companies.started) == 1
        visitor.forgive("ERR_")


def test_everybody_can_use_it(browser: Browser, place: str, companies: Companies) -> None:
    """axe-core, contrast included, in light and dark; no page scrolls sideways."""
    companies.doors.clear()
    with Visitor(browser, place, bypass_csp=True, color_scheme="light") as page:
        page.goto("/")
        wait_for_form(page)
        require_accessible(page, "#live")
        start_one(page)
        expect(page.locator("#side-0 progress")).to_be_visible()
        require_accessible(page, "#cards")
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="dark")
        require_accessible(page, "#cards")
        page.goto("/")
        wait_for_form(page)
        require_accessible(page, "#live")


def require_accessible(page: Page, part: str) -> None:
    page.wait_for_timeout(300)
    found = Axe().run(page, context=part)
    assert found.violations_count == 0, found.generate_report()
    width = page.viewport_size["width"] if page.viewport_size else 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
