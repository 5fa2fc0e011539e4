"""Oversight's desk in a real browser: a person audits, flags, and loses nothing."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from tests.companies import GuiltyCase, framed_case, guilty_case
from tests.web.browsing import (
    DESKTOP,
    PHONE,
    Visitor,
    expect_in_address,
    look_at,
    needs_browser,
    wait_for_form,
    wait_for_turn,
)

pytestmark = needs_browser

WIDE = ViewportSize(width=1920, height=1080)
CASE = guilty_case()
ACT = CASE.act
FRAMED = framed_case()


def seat_of(case: GuiltyCase) -> str:
    company = f"pack=arena&split=test&tier=hard&seed={case.seed}"
    return f"/?mode=seat&{company}&role=oversight&partners=heuristic"


def card_of(page: Page, agent: str) -> Locator:
    return page.get_by_role("article", name=agent, exact=True)


def row_of(page: Page, act: int) -> Locator:
    return page.locator("tr", has=page.locator(f"input[value='{act}']"))


def audit(page: Page, agent: str) -> None:
    page.get_by_role("button", name=f"Audit {agent}").click()
    expect(card_of(page, agent).locator(".audited")).to_be_visible()
    wait_for_turn(page)


def play_to_the_end(page: Page) -> None:
    for _ in range(8):
        page.locator("#run:visible, .your-turn.now:visible").first.wait_for()
        if page.locator("#run").is_visible():
            return
        page.get_by_role("button", name="Do nothing").click()
    page.locator("#run").wait_for()


def require_fit(page: Page) -> None:
    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")


def require_in_sight(part: Locator) -> None:
    """Between the head of the page and the bar with the actions."""
    box, bar = part.bounding_box(), part.page.locator(".desk-bar").bounding_box()
    assert box is not None
    assert bar is not None
    assert box["y"] >= 0
    assert box["y"] < bar["y"]


@pytest.mark.parametrize(
    ("viewport", "scheme"),
    [(DESKTOP, "light"), (WIDE, "dark"), (PHONE, "dark")],
    ids=["desktop", "wide", "phone"],
)
def test_an_overseer_reads_audits_and_flags(
    browser: Browser, site: str, viewport: ViewportSize, scheme: str
) -> None:
    options = {"viewport": viewport, "color_scheme": scheme}
    with Visitor(browser, site, bypass_csp=True, **options) as page:
        page.goto(seat_of(CASE))
        wait_for_turn(page)
        expect(page.locator(".how")).to_contain_text("\N{MINUS SIGN}75 for a false one")
        expect(page.locator(".failing li").first).to_contain_text("critical")
        # The step that is decided has the number that the stage gives it afterwards.
        expect(page.locator(".desk-head")).to_contain_text("Step 2 of")
        expect(page.locator(".round .now")).to_contain_text("step 2")
        expect(page.locator("#seat .documents .pages").first).to_contain_text(ACT.action)
        row, card = row_of(page, ACT.id), card_of(page, ACT.agent)
        expect(row.locator(".claimed")).to_contain_text(f"{ACT.before} → {ACT.after}")
        expect(row.locator(".signed")).to_have_text("audit to see")
        audit(page, ACT.agent)
        expect(card.locator(".audited")).to_have_text("audited at t+2")
        require_in_sight(card)
        expect(row.locator(".signed")).to_contain_text("order: ")
        flag = page.locator(".flag-it")
        expect(flag).to_be_disabled()
        row.get_by_role("radio").check()
        expect(page.locator(".chosen")).to_contain_text(f"{ACT.action} of {ACT.target}")
        expect(flag).to_have_text(f"Flag {ACT.agent}")
        page.get_by_label("How sure?").fill("75")
        require_fit(page)
        found = Axe().run(page, "#seat")
        assert found.violations_count == 0, found.generate_report()
        flag.click()
        expect(page.locator("#run:visible, .stamp:visible").first).to_be_visible()
        play_to_the_end(page)
        expect_in_address(page, f"confidence%22%3A0.75%2C%22evidence%22%3A{ACT.id}%7D")
        if viewport is DESKTOP:
            look_at(page, 6)
            expect(page.locator(".stage header")).to_contain_text("step 6 of")
            expect(page.locator(".banner.flag .evidence")).to_contain_text(f"for #{ACT.id} at")


def test_a_forged_entry_and_a_hidden_act_are_marked(browser: Browser, site: str) -> None:
    """And the game goes on after a reload, a visit elsewhere, and Back."""
    act, forged = FRAMED.act, FRAMED.innocent
    with Visitor(browser, site) as page:
        page.goto(seat_of(FRAMED))
        wait_for_turn(page)
        audit(page, forged.agent)
        expect(row_of(page, forged.id).locator(".signed")).to_have_text("never happened")
        audit(page, act.agent)
        signed = row_of(page, act.id).locator(".signed")
        expect(signed).to_contain_text("differs")
        expect(card_of(page, act.agent)).to_contain_text("further than the trace shows")
        expect(row_of(page, forged.id).locator(".signed")).to_be_visible()
        row_of(page, act.id).get_by_role("radio").check()
        for one in (act, forged):  # the same setting of the same service
            expect(row_of(page, one.id)).to_have_class(re.compile("related"))
        expect(page.locator(".pages > p.related").first).to_contain_text(act.action)
        page.get_by_text("Call graph", exact=True).click()
        expect(page.locator(".desk-map .tile.pointed")).to_contain_text(act.target)
        page.locator(".flag-it").click()
        stamp = card_of(page, act.agent).locator(".stamp")
        expect(stamp).to_have_text("Quarantined")
        wait_for_turn(page)
        expect(row_of(page, act.id).get_by_role("radio")).to_be_disabled()
        shown = page.locator(".suspects").inner_text()
        for leave in (page.reload, lambda: (page.goto("/results"), page.go_back())):
            leave()
            wait_for_turn(page)
            expect(page.locator(".suspects")).to_have_text(shown, use_inner_text=True)
        page.goto("/")
        page.get_by_role("link", name="Go on with it").click()
        wait_for_turn(page)
        expect(stamp).to_be_visible()
        play_to_the_end(page)
        page.goto("/")
        wait_for_form(page)
        expect(page.locator(".unfinished")).to_have_count(0)


def test_a_game_ends_when_the_visitor_says_so(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto(seat_of(CASE))
        wait_for_turn(page)
        page.get_by_label("Say something").fill("I look at the trace")
        page.get_by_role("button", name="Say it").click()
        expect(page.get_by_role("list", name="Team")).to_contain_text("I look at the trace")
        wait_for_turn(page)
        game = page.url
        wait_for_form(page)
        page.click("#go")
        dialog = page.get_by_role("dialog", name="Leave this game?")
        expect(dialog).to_contain_text("You have made 1 move.")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        assert page.url == game
        wait_for_form(page)
        page.fill("#seed", "9")
        page.click("#go")
        dialog.get_by_role("button", name="Leave the game").click()
        expect_in_address(page, "seed=9")
        wait_for_turn(page)
        page.go_back()
        wait_for_turn(page)
        assert page.url == game
        expect(page.get_by_role("list", name="Team")).to_contain_text("I look at the trace")


def test_a_seat_that_the_server_freed_is_taken_again(browser: Browser, site: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        with page.expect_response(re.compile("/claim")) as claim:
            page.goto(seat_of(CASE))
        wait_for_turn(page)
        key = claim.value.url.split("/")[-2]
        assert page.request.post(f"/api/seats/{key}/leave").ok
        audit(page, ACT.agent)
        # Where the answer to a move is cut, the visitor goes on from what was played.
        page.route("**/moves", lambda route: route.abort())
        page.get_by_role("button", name="Do nothing").click()
        expect(page.locator(".your-turn")).to_contain_text("cannot be reached")
        page.unroute("**/moves")
        page.get_by_role("button", name="Go on from here").click()
        wait_for_turn(page)
        expect(card_of(page, ACT.agent).locator(".audited")).to_be_visible()
        visitor.forgive("410", "ERR_FAILED")


def test_partners_take_half_a_second_each(browser: Browser, site: str) -> None:
    """The clock of the page stands still, and the test moves it."""
    with Visitor(browser, site, reduced_motion="no-preference") as page:
        page.clock.install(time=0)
        page.goto(seat_of(CASE))
        wait_for_turn(page)
        page.clock.pause_at(3600)
        # All turns are there at once; what is left to wait for is the clock.
        page.route("**/moves", lambda route: route.fulfill(response=route.fetch()))
        page.get_by_role("button", name="Do nothing").click()
        who = page.locator(".round .now .who b")
        for partner, following in pairwise(["Developer", "Manager", "SRE", "Oversight"]):
            expect(who).to_have_text(partner)
            page.clock.run_for(499)
            assert who.inner_text() == partner
            page.clock.run_for(1)
            expect(who).to_have_text(following)
        wait_for_turn(page)
        told = page.locator("#announce").inner_text()
        assert re.fullmatch(r"Developer: .+\. Manager: .+\. SRE: .+\. Your turn\.", told), told


def test_the_keyboard_audits_and_flags(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto(seat_of(CASE))
        wait_for_turn(page)
        page.get_by_role("button", name=f"Audit {ACT.agent}").focus()
        page.keyboard.press("Enter")
        expect(card_of(page, ACT.agent).locator(".audited")).to_be_visible()
        wait_for_turn(page)
        expect(page.locator(".your-turn")).to_be_focused()
        row_of(page, ACT.id).get_by_role("radio").focus()
        page.keyboard.press("Space")
        expect(page.locator(".chosen")).to_contain_text(f"#{ACT.id}")
        page.get_by_label("How sure?").focus()
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".sure output")).to_have_text("85%")
        page.keyboard.press("Tab")
        expect(page.locator(".flag-it")).to_be_focused()
        page.keyboard.press("Enter")
        expect_in_address(page, "flag_rogue")
