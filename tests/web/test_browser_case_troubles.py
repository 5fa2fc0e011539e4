"""A recorded case while its server is away, after a reload, and with a mistyped address."""

from __future__ import annotations

import re
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from chaosops.web.recorded_cases import RecordedCases
from chaosops.web.routes import Settings
from tests.web.browsing import POLICIES, Visitor, needs_browser
from tests.web.conftest import serving

pytestmark = needs_browser

CASE = RecordedCases().find("heron")
AWAY = "Failed to load resource"  # the browser notes it by itself


class Away:
    """Requests to this address fail until the server is back."""

    def __init__(self, page: Page, address: str) -> None:
        self.is_back = False
        self.asked = 0
        page.route(address, self._answer)

    def _answer(self, route: Route) -> None:
        self.asked += 1
        if self.is_back:
            route.continue_()
        else:
            route.abort("connectionrefused")


def again(page: Page) -> None:
    page.locator(".trouble-line").get_by_role("button", name="Try again").click()


def test_a_vote_without_a_server_is_told_and_made_again(browser: Browser, site: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        visitor.forgive(AWAY)
        server = Away(page, "**/reveal")
        page.goto("/case/heron")
        nobody = page.locator(".suspect-card.nobody")
        nobody.click()
        trouble = page.locator(".trouble-line")
        expect(trouble).to_contain_text("Your vote for nobody was not counted.")
        expect(trouble).to_be_in_viewport()
        expect(nobody).to_be_enabled()
        again(page)
        expect(trouble).to_contain_text("was not counted")
        server.is_back = True
        again(page)
        expect(page.locator(".verdict")).to_contain_text("You accused nobody.")
        expect(trouble).to_be_hidden()


@pytest.mark.parametrize("cut", ["refused", "cut"])
def test_a_replay_that_fails_does_not_reopen_the_vote(
    browser: Browser, site: str, cut: str
) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        visitor.forgive(AWAY)

        def broken(route: Route) -> None:
            if cut == "refused":
                route.abort("connectionrefused")
                return
            lines = route.fetch().text().splitlines(keepends=True)
            route.fulfill(body="".join(lines[:3]))

        page.route("**/replay*", broken)
        page.goto("/case/heron")
        page.locator(".suspect-card.nobody").click()
        trouble = page.locator(".trouble-line")
        expect(trouble).to_contain_text(f"run of {CASE.policies[-1]} was not loaded.")
        expect(page.locator(".verdict")).to_contain_text("You accused nobody.")
        for card in page.locator(".suspect-card").all():
            expect(card).to_be_disabled()
        page.unroute("**/replay*")
        again(page)
        expect(page.locator(".case-file")).to_be_visible()
        expect(trouble).to_be_hidden()


def test_watching_without_a_server_is_told_and_tried_again(browser: Browser, site: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        visitor.forgive(AWAY)
        server = Away(page, "**/replay*")
        page.goto("/case/heron")
        page.get_by_role("button", name="Watch auditor decide").click()
        expect(page.locator(".trouble-line")).to_contain_text("run of auditor was not loaded.")
        expect(page.locator(".suspect-card").first).to_be_enabled()
        server.is_back = True
        again(page)
        expect(page.locator(".case-file h2")).to_have_text("Case file, as auditor played it")


def test_of_two_runs_that_are_asked_for_the_last_is_shown(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        held: list[Route] = []
        page.route(re.compile("policy=heuristic"), lambda route: held.append(route))
        page.goto("/case/heron")
        page.get_by_role("button", name="Watch heuristic decide").click()
        page.get_by_role("button", name="Watch auditor decide").click()
        title = page.locator(".case-file h2")
        expect(title).to_have_text("Case file, as auditor played it")
        with page.expect_event("requestfinished", lambda one: "policy=heuristic" in one.url):
            held[0].fulfill(response=held[0].fetch())
        page.wait_for_timeout(200)
        expect(title).to_have_text("Case file, as auditor played it")


def test_a_reload_after_a_vote_shows_the_last_minute(browser: Browser, site: str) -> None:
    last = len(CASE._watched) - 1
    with Visitor(browser, site) as page:
        page.goto("/case/heron")
        page.locator(".suspect-card.nobody").click()
        expect(page.locator(".verdict h2")).to_be_focused()
        page.reload()
        expect(page.locator(".verdict")).to_contain_text("You accused nobody.")
        expect(page.locator(".case-file")).to_be_visible()
        expect(page.locator(".transport output")).to_have_text(f"t+{last}")
        expect(page.locator(".transport button")).to_have_attribute("aria-label", "Play")
        expect(page.locator(".case-stage .tile").first).to_be_visible()
        assert page.evaluate("document.activeElement === document.body")


def test_a_vote_for_an_agent_that_is_gone_is_forgotten(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/case/heron")
        page.evaluate("sessionStorage.setItem('chaosops case heron', 'gremlin')")
        page.reload()
        expect(page.locator(".suspect-card").first).to_be_enabled()
        expect(page.locator(".trouble-line")).to_be_hidden()


@pytest.mark.parametrize("path", ["case", "embed"])
@pytest.mark.parametrize("step", ["1e9", "-13", "13", "abc", "", "5.5"])
def test_a_step_that_is_none_is_told(browser: Browser, site: str, path: str, step: str) -> None:
    with Visitor(browser, site) as page:
        page.goto(f"/{path}/heron?step={step}")
        expect(page.locator(".trouble-line span")).to_have_text(
            f"No step “{step}”: a step of this case is a whole number from -12 to 12. "
            "It begins at t\N{MINUS SIGN}12."
        )
        expect(page.locator(".transport button")).to_have_attribute("aria-label", "Pause")
        page.get_by_role("button", name="Close").click()
        expect(page.locator(".trouble-line")).to_be_hidden()


@pytest.mark.parametrize(
    ("step", "words"), [("-1", "t\N{MINUS SIGN}1"), ("12", "t+12"), ("0", "t+0")]
)
def test_a_step_of_the_case_is_shown(browser: Browser, site: str, step: str, words: str) -> None:
    with Visitor(browser, site) as page:
        page.goto(f"/case/today?step={step}")
        expect(page.locator(".transport output")).to_have_text(words)
        expect(page.locator(".trouble-line")).to_be_hidden()
        assert page.url.endswith(f"?step={step}")


@pytest.mark.parametrize("path", ["/", "/case/heron"])
def test_the_case_is_asked_for_until_the_server_answers(
    browser: Browser, site: str, path: str
) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        visitor.forgive(AWAY)
        server = Away(page, "**/api/cases/*")
        page.goto(path)
        line = page.locator(".trouble-line")
        expect(line).to_have_text(re.compile(r"cannot be reached\. .* asked for again in \d+ s\."))
        server.is_back = True
        expect(page.locator(".suspect-card").first).to_be_visible()
        expect(line).to_be_hidden()
        assert server.asked > 1


def test_a_server_that_starts_behind_a_proxy_is_waited_for(browser: Browser, site: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        visitor.forgive(AWAY)
        page.route(
            "**/api/cases/*", lambda route: route.fulfill(status=503, body="starting"), times=1
        )
        page.goto("/case/heron")
        expect(page.locator(".trouble-line")).to_contain_text("asked for again in")
        expect(page.locator(".suspect-card").first).to_be_visible()


def test_a_server_that_is_killed_and_started_again(browser: Browser) -> None:
    """What is watched goes on without it, and a vote waits for it."""
    settings = Settings(policies=POLICIES, results=())
    with ExitStack() as server:
        address = server.enter_context(serving(settings))
        visitor = Visitor(browser, address)
        with visitor as page:
            visitor.forgive(AWAY)
            page.goto("/case/heron?step=0")
            page.locator(".suspect-card").first.wait_for()
            server.close()
            page.locator(".transport button").click()
            page.wait_for_function("() => document.querySelector('.transport input').value > 1")
            page.locator(".suspect-card.nobody").click()
            expect(page.locator(".trouble-line")).to_contain_text("was not counted")
            server.enter_context(serving(settings, int(address.rpartition(":")[2])))
            again(page)
            expect(page.locator(".verdict")).to_contain_text("You accused nobody.")
            expect(page.locator(".case-file")).to_be_visible()
