"""A company with documents in a real browser: what a visitor reads, and what a flag names."""

from __future__ import annotations

import re

from playwright.sync_api import APIResponse, Browser, Route, expect

from chaosops.packs import load_pack, make_scenario
from chaosops.rollout import load_team, play
from tests.companies import guilty_case
from tests.web.browsing import (
    SEAT,
    Visitor,
    expect_totals,
    look_at,
    needs_browser,
    to_the_end,
    wait_for_form,
    wait_for_turn,
)

pytestmark = needs_browser

CASE = guilty_case()
COMPANY = f"pack=arena&split=test&tier=hard&seed={CASE.seed}"


def test_spectators_see_documents_and_the_end(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto(f"/?{COMPANY}&left=heuristic&right=auditor")
        to_the_end(page)
        expect(page.locator(".case-file .truth")).to_have_text([re.compile("The fault is ")] * 2)
        for side in page.locator("#columns .column").all():
            opened = side.locator(".documents details[open]").first
            expect(opened.locator("dt").nth(1)).to_have_text("remedy")
        look_at(page, 0)
        expect(page.locator(".case-file:visible")).to_have_count(0)


def test_the_page_offers_the_simulated_packs_with_the_trained_model(
    browser: Browser, site: str
) -> None:
    with Visitor(browser, site) as page:
        page.goto("/")
        wait_for_form(page)
        expect(page.locator("#pack option")).to_have_text(["classic", "arena", "rehearsal"])
        for pack in ("arena", "classic"):
            page.select_option("#pack", pack)
            expect(page.locator("#right")).to_have_value("trained")
        page.select_option("#pack", "arena")
        expect(page.locator("#split")).to_have_value("test")
        expect(page.locator("#split option", has_text="ood_wording")).to_have_count(1)


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


def test_a_link_names_the_partners_of_a_policy(browser: Browser, site: str) -> None:
    """As a recorded team is played again, live."""
    with Visitor(browser, site) as page:
        page.goto(f"/?{COMPANY}&left=auditor&right=none&role=oversight&partners=random")
        to_the_end(page)
        expect(page.locator(".stage h2")).to_have_text("auditor as Oversight")
        expect(page.locator("#run-title")).to_contain_text("the other roles: random")
        played = play(
            make_scenario(pack="arena", split="test", tier="hard", seed=CASE.seed),
            load_team("oversight=auditor,others=random"),
        )
        points = f"{played.reward:+g}".replace("-", "\N{MINUS SIGN}")
        expect_totals(page, points)
