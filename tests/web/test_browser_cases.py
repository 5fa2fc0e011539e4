"""Recorded cases in a real browser: home, a link, an embed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from threading import Event
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, Route, ViewportSize, expect

from chaosops.core.actions import Noop
from chaosops.core.decision import Decision
from chaosops.policies.protocol import DecisionRequest
from chaosops.policies.registry import load_policy
from chaosops.web import policy_cache
from chaosops.web.policy_cache import OfferedPolicy
from chaosops.web.recorded_cases import RecordedCases
from chaosops.web.routes import Settings
from tests.web.browsing import DESKTOP, PHONE, POLICIES, Visitor, needs_browser
from tests.web.conftest import serving

pytestmark = needs_browser

WIDE = ViewportSize(width=1920, height=1080)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
MOST_BYTES = 350_000
CASE = RecordedCases().find("heron")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serving(Settings(policies=POLICIES, results=())) as address:
        yield address


def wait_for_case(page: Page) -> None:
    page.locator(".suspect-card").first.wait_for()


def require_no_findings(page: Page) -> None:
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found = Axe().run(page)
        assert found.violations_count == 0, (scheme, found.generate_report())


def require_fit(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def require_in_view(page: Page, viewport: ViewportSize) -> None:
    """The stage and every suspect, without scrolling."""
    for part in (".case-stage .stage", ".transport", ".suspect-card >> nth=-1"):
        box = page.locator(part).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= viewport["height"], (page.url, part)


def minute(page: Page) -> int:
    return int(page.locator(".transport input").input_value())


def test_every_case_fits_on_a_laptop(browser: Browser, site: str) -> None:
    """Each of them is the case of the day once in twelve days."""
    with Visitor(browser, site, bypass_csp=True, viewport=DESKTOP) as page:
        for case in RecordedCases().all:
            page.goto(f"/case/{case.name}")
            wait_for_case(page)
            require_in_view(page, DESKTOP)


@pytest.mark.parametrize("viewport", [DESKTOP, WIDE, PHONE], ids=["desktop", "wide", "phone"])
def test_home_is_a_case_that_is_solved_by_keyboard_alone(
    browser: Browser, site: str, viewport: ViewportSize
) -> None:
    with Visitor(browser, site, bypass_csp=True, viewport=viewport) as page:
        page.goto("/")
        wait_for_case(page)
        began = minute(page)
        expect(page.locator("h1")).to_contain_text(
            "AI agents broke production. Or none did. Which?"
        )
        expect(page.locator(".suspect-card").last).to_contain_text("nobody")
        require_fit(page)
        if viewport is not PHONE:
            require_in_view(page, viewport)
        page.wait_for_function(
            "was => Number(document.querySelector('.transport input').value) > was", arg=began
        )
        require_no_findings(page)
        page.locator(".transport button").focus()
        page.keyboard.press("Space")
        expect(page.locator(".transport button")).to_have_attribute("aria-label", "Play")
        page.locator(".suspect-card.nobody").focus()
        page.keyboard.press("Enter")
        verdict = page.locator(".verdict")
        expect(verdict.locator("h2")).to_be_focused()
        expect(verdict).to_contain_text("You accused nobody.")
        file = page.locator(".case-file")
        expect(file.locator(".timeline li")).to_have_count(5)
        expect(file.locator(".bars").first.locator("li")).to_have_count(3)
        expect(page.locator(".others > li > b")).to_have_text(["you", *CASE.policies])
        require_fit(page)
        require_no_findings(page)


def test_the_reveal_names_the_framed_and_what_the_policies_did(browser: Browser, site: str) -> None:
    (framed,) = (one.agent for one in CASE.file.suspects if one.verdict == "framed")
    with Visitor(browser, site) as page:
        page.goto("/case/heron")
        page.locator(f"[data-agent={framed}]").click()
        verdict = page.locator(".verdict")
        expect(verdict).to_contain_text("It was framed.")
        expect(verdict).to_contain_text(f"forged an act of {framed}")
        expect(page.locator(f"[data-agent={framed}] .judged")).to_have_text("innocent")
        expect(page.locator(f"[data-agent={CASE.file.rogue}] .judged")).to_have_text("the rogue")
        for one in CASE.recorded.values():
            line = page.locator(".others li", has=page.get_by_text(one.policy, exact=True))
            expect(line).to_contain_text(f"recorded at {one.manifest['commit'][:7]}")
            for flag in one.figures()["flags"]:
                expect(line).to_contain_text(f"{flag['agent']} at step {flag['step']}")
            live = line.get_by_role("link", name="Run it live").get_attribute("href")
            assert f"seed={CASE.scenario.seed}&left={one.policy}" in (live or "")
            # The team that was recorded: one policy for all roles, or partners for the others.
            is_mixed = one.team == f"oversight={one.policy},others=heuristic"
            assert ("&role=oversight&partners=heuristic" in (live or "")) == is_mixed
            assert is_mixed or one.team == one.policy
        rows = page.locator(".compared tr.forged")
        expect(rows).to_contain_text(["nothing: it never happened"])
        # A moment of the timeline rewinds the recorded episode.
        moment = page.locator(".timeline button").last
        words = moment.inner_text()
        moment.click()
        expect(page.locator(".transport output")).to_have_text(words)
        expect(page.locator(".stage .strip")).to_be_visible()
        seen = page.locator(".seen").first
        seen.locator("summary").first.click()
        seen.locator("ol summary").nth(1).click()
        expect(seen.locator("pre").first).to_contain_text("Step 2 of 32.")
        page.reload()
        expect(page.locator(".verdict")).to_contain_text(f"You accused {framed}.")
        page.get_by_role("link", name="Next case").click()
        expect(page.locator("h1")).to_be_visible()
        assert "/case/wren" in page.url
        expect(page.locator(".verdict")).to_have_count(0)


def test_a_model_shows_its_reply_and_how_likely_each_action_was(
    browser: Browser, site: str
) -> None:
    """The recorded scripts have neither, so one line of an answer is exchanged."""
    chances = {"flag deploy_bot for #24": 0.612, "noop": 0.31}

    def as_model(route: Route) -> None:
        *lines, last = route.fetch().text().splitlines()
        file = json.loads(last)
        told = {"reply": "Q", "tokens_read": 1234, "tokens_written": 1, "chances": chances}
        file["turns"][1] |= told
        route.fulfill(body="\n".join([*lines, json.dumps(file), ""]))

    with Visitor(browser, site) as page:
        page.route("**/replay*", as_model)
        page.goto("/case/heron")
        page.get_by_role("button", name="Watch auditor decide").click()
        seen = page.locator(".seen").first
        seen.locator("summary").first.click()
        seen.locator("ol summary").nth(1).click()
        turn = seen.locator("ol > li").nth(1)
        expect(turn.locator("pre").nth(1)).to_have_text("Q")
        expect(turn).to_contain_text("1,234 tokens read, 1 written")
        shown = [f"{words}{100 * p:.1f}%" for words, p in chances.items()]
        expect(turn.locator(".chances li")).to_have_text(shown)


def test_watching_is_possible_without_an_accusation(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/case/heron")
        page.get_by_role("button", name="Watch auditor decide").click()
        expect(page.locator(".case-file h2")).to_have_text("Case file, as auditor played it")
        expect(page.locator(".suspect-card").first).to_be_disabled()
        page.wait_for_function("() => document.querySelector('.transport input').value > 0")


def test_a_link_opens_at_its_step_and_tells_nothing(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/case/heron?step=5")
        wait_for_case(page)
        expect(page.locator(".transport output")).to_have_text("t+5")
        expect(page.locator(".transport button")).to_have_attribute("aria-label", "Play")
        page.locator(".share summary").click()
        expect(page.locator("#case-link")).to_have_value(f"{site}/case/heron?step=5")
        assert f'src="{site}/embed/heron"' in page.locator("#case-embed").input_value()
        shown = page.content()
        assert not any(text in shown for text in CASE.file.story)


def test_an_embed_has_no_header_and_leads_out_of_its_frame(browser: Browser, site: str) -> None:
    with Visitor(browser, site, viewport=ViewportSize(width=960, height=760)) as page:
        page.goto("/embed/heron")
        wait_for_case(page)
        expect(page.locator("header.top")).to_have_count(0)
        require_fit(page)
        page.locator(".suspect-card.nobody").click()
        link = page.get_by_role("link", name="Next case")
        expect(link).to_have_attribute("target", "_top")


def cold_visit(browser: Browser) -> tuple[float, float]:
    """Milliseconds until the first paint, and until the first case moves."""
    asked: list[Request] = []
    with serving(Settings(policies=POLICIES, results=())) as address:
        with Visitor(browser, address) as page:
            page.on("requestfinished", lambda one: asked.append(one))
            page.goto("/")
            page.wait_for_function(MOVING)
            moving: float = page.evaluate("performance.now()")
            paint: float = page.evaluate(PAINT)
            weight = sum(one.sizes()["responseBodySize"] for one in asked)
        assert all(one.url.startswith(address) for one in asked)
    assert 50_000 < weight < MOST_BYTES
    return paint, moving


def test_a_cold_server_shows_a_moving_case_soon_and_asks_nobody_else(browser: Browser) -> None:
    """The best of three, as other tests may keep this machine busy."""
    visits = []
    for _ in range(3):
        visits.append(cold_visit(browser))
        if visits[-1][0] < 1000 and visits[-1][1] < 2000:
            return
    raise AssertionError(visits)


MOVING = "() => Number(document.querySelector('.transport input')?.value ?? -99) > -12"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def test_a_link_to_a_seat_beside_a_model_invites(browser: Browser, site: str) -> None:
    """The model of this server cannot be loaded: whoever asks for it is told so."""
    with Visitor(browser, site) as page:
        page.goto(
            "/?mode=seat&pack=classic&scenario=mystery&seed=5&role=oversight&partners=trained"
        )
        sit = page.get_by_role("button", name="Sit down").last
        expect(page.locator(".invitation")).to_contain_text("It starts when you sit down.")
        sit.click()
        expect(page.locator("#notice")).to_contain_text("UNAVAILABLE")


class Thinking:
    """A model that takes its time."""

    name = "slow"
    sees_truth = False

    def __init__(self) -> None:
        self.free = Event()

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        self.free.wait(60)
        return [Decision(Noop()) for _ in requests]

    def status(self) -> dict[str, Any]:
        return {"kind": "model", "model": "slow"}


def test_a_thinking_model_is_told_about_and_holds_nobody_up(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Thinking()
    monkeypatch.setattr(
        policy_cache,
        "load_policy",
        lambda name: model if name == "trained" else load_policy(name),
    )
    offered = OfferedPolicy("trained", "stands for a model", is_model=True)
    with serving(Settings(policies=(offered, *POLICIES[1:]), results=())) as address:
        with Visitor(browser, address) as page:
            page.goto("/?pack=classic&tier=hard&seed=42&left=heuristic&right=trained")
            page.select_option("#speed", "0")
            words = re.compile(r"SRE is thinking, \d+ s\.")
            expect(page.locator("#side-1 .banner")).to_contain_text(words)
            expect(page.locator("#side-0 .banner")).to_contain_text("Resolved in")
            model.free.set()
            expect(page.locator("#side-1 .banner")).to_contain_text("Not resolved")
        model.free.set()


def test_a_watched_run_ends_with_its_case_files(browser: Browser, site: str) -> None:
    scenario = CASE.scenario
    query = (
        f"?pack={scenario.pack}&split={scenario.split}&tier={scenario.tier}&seed={scenario.seed}"
    )
    with Visitor(browser, site) as page:
        page.goto(f"/{query}&left=heuristic&right=auditor")
        page.select_option("#speed", "0")
        expect(page.locator(".case-file .culprit")).to_have_text([re.compile("is the rogue")] * 2)
        # The recorded policies stand beside each run, as this incident is a recorded case.
        sides = page.locator(".case-file .compared", has_text="Side by side")
        for side, name in ((sides.first, "heuristic"), (sides.last, "auditor")):
            others = [policy for policy in CASE.policies if policy != name]
            expect(side.locator("tbody b")).to_have_text([name, *others])
        link = page.locator(".endings").get_by_role("link", name="Next case")
        expect(link).to_have_attribute("href", f"{site}/case/wren")
        page.locator(".case-file .timeline button").first.click()
        expect(page.locator(".case-file:visible")).to_have_count(0)
        expect(page.locator("#scrub")).to_have_value("0")
