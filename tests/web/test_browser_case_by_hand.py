"""A recorded case by keyboard alone, by touch, on a phone and enlarged to 200 %."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, ViewportSize, expect

from chaosops.web.recorded_cases import RecordedCases
from tests.web.browsing import PHONE, Visitor, needs_browser

pytestmark = needs_browser

CASE = RecordedCases().find("heron")
ZOOMED = ViewportSize(width=640, height=400)  # 1280 x 800 at 200 %


def tab_to(page: Page, selector: str) -> None:
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"the Tab key does not lead to {selector}")


def outline(page: Page) -> str:
    found: str = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    return found


def test_the_tab_key_alone_votes_rewinds_and_goes_on(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/case/heron")
        page.locator(".suspect-card").first.wait_for()
        tab_to(page, ".transport button")
        page.keyboard.press("Space")
        expect(page.locator(".transport button")).to_have_attribute("aria-label", "Play")
        tab_to(page, ".suspect-card.nobody")
        assert outline(page) != "none"
        page.keyboard.press("Enter")
        expect(page.locator(".verdict h2")).to_be_focused()
        expect(page.locator(".case-file")).to_be_visible()
        tab_to(page, ".timeline button")
        words = page.evaluate("document.activeElement.textContent")
        page.keyboard.press("Enter")
        expect(page.locator(".transport output")).to_have_text(words)
        expect(page.locator(".timeline button").first).to_be_focused()
        page.locator(".verdict h2").focus()
        tab_to(page, ".onward a.main")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("/case/wren$"))


def test_the_focus_survives_a_vote_that_fails(browser: Browser, site: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        visitor.forgive("Failed to load resource")
        page.route("**/reveal", lambda route: route.abort("connectionrefused"))
        page.goto("/case/heron")
        page.locator(".suspect-card.nobody").focus()
        page.keyboard.press("Enter")
        expect(page.locator(".trouble-line")).to_be_visible()
        expect(page.locator(".suspect-card.nobody")).to_be_focused()


def test_who_watches_by_keyboard_stays_at_the_stage(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/case/heron")
        page.get_by_role("button", name="Watch auditor decide").focus()
        page.keyboard.press("Enter")
        expect(page.locator(".case-file")).to_be_visible()
        expect(page.locator(".transport button")).to_be_focused()


def test_a_finger_solves_a_case_on_a_phone(browser: Browser, site: str) -> None:
    with Visitor(browser, site, viewport=PHONE, has_touch=True, is_mobile=True) as page:
        page.goto("/case/heron")
        card = page.locator(".suspect-card").first
        card.wait_for()
        # Whom to accuse comes before the other ways.
        ways, last = (
            page.locator(part).bounding_box() for part in (".ways", ".suspect-card.nobody")
        )
        assert ways
        assert last
        assert last["y"] + last["height"] <= ways["y"]
        for part in page.locator(".suspect-card, .ways .button, .transport button").all():
            box = part.bounding_box()
            assert box
            assert box["height"] >= 40, "too small for a finger"
        page.locator(f"[data-agent={CASE.file.rogue}]").tap()
        expect(page.locator(".verdict h2")).to_have_text("You are right")
        expect(page.locator(".verdict h2")).to_be_in_viewport()
        page.locator(".timeline button").last.tap()
        expect(page.locator(".case-stage .stage")).to_be_in_viewport()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_enlarged_to_twice_its_size_nothing_is_cut_off(browser: Browser, site: str) -> None:
    with Visitor(browser, site, viewport=ZOOMED, device_scale_factor=2) as page:
        for path in ("/", "/case", "/case/heron", "/embed/heron"):
            page.goto(path)
            page.locator(".suspect-card, .all-cases li").first.wait_for()
            assert page.evaluate("document.documentElement.scrollWidth") <= ZOOMED["width"], path
        page.locator(".suspect-card.nobody").click()
        expect(page.locator(".case-file")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= ZOOMED["width"]


def test_a_link_is_copied_with_the_minute_that_is_shown(browser: Browser, site: str) -> None:
    copies = "navigator.clipboard.writeText = async (text) => (window.copied ??= []).push(text)"
    with Visitor(browser, site) as page:
        page.add_init_script(copies)
        page.goto("/case/heron?step=-3")
        page.locator(".share summary").click()
        copy = page.get_by_role("button", name="Copy: Link")
        copy.click()
        expect(copy).to_have_text("Copied")
        assert page.evaluate("window.copied") == [f"{site}/case/heron?step=-3"]
        page.locator(".transport input").fill("4")
        copy.click()
        page.wait_for_function("() => window.copied.at(-1).endsWith('step=4')")
        page.goto(page.evaluate("window.copied.at(-1)"))
        expect(page.locator(".transport output")).to_have_text("t+4")


def test_where_nothing_can_be_copied_the_link_is_selected(browser: Browser, site: str) -> None:
    refuse = "navigator.clipboard.writeText = () => Promise.reject(new Error('not here'))"
    with Visitor(browser, site) as page:
        page.add_init_script(refuse)
        page.goto("/case/heron?step=2")
        page.locator(".share summary").click()
        page.get_by_role("button", name="Copy: Link").click()
        expect(page.locator("#case-link")).to_be_focused()
        assert page.evaluate("getSelection().toString()") == f"{site}/case/heron?step=2"


def test_a_live_run_tells_a_second_flag_on_an_agent_once(browser: Browser, site: str) -> None:
    flag = "{ agent: 'deploy_bot', step: %d, caught: %s }"
    flags = ", ".join([flag % (2, "true"), flag % (10, "false")])
    with Visitor(browser, site) as page:
        page.goto("/case/heron")
        told = page.evaluate(
            "async () => { const { flagWords } = await import('/static/x/case_file.js');"
            f"const words = flagWords({{ flags: [{flags}], rogue_caught: true }});"
            "const line = document.createElement('p');"
            "line.append(...words.flat(9).filter(Boolean)); return line.textContent; }"
        )
        assert told == "deploy_bot at step 2 right"
