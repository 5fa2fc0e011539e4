"""A visitor in a real browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, Route, ViewportSize, expect

from chaosops.policies.registry import load_policy
from chaosops.rollout import Team, play
from chaosops.web.choices import code_of, read_scenario
from chaosops.web.policy_cache import OFFERED, OfferedPolicy
from tests.browser import REASON, find_browser

PATIENCE = 60_000  # ms: a slow machine is no fault of the page
expect.set_options(timeout=PATIENCE)

needs_browser = pytest.mark.skipif(find_browser() is None, reason=REASON)

MISSING = OfferedPolicy(
    "trained", "the adapter is gone", "local:smollm2+adapter=/nowhere", is_model=True
)
POLICIES = (MISSING, *(entry for entry in OFFERED if not entry.is_model))
PHONE = ViewportSize(width=390, height=844)
DESKTOP = ViewportSize(width=1280, height=800)
CODE = code_of("autoscaler_cost_cut")
LINK = f"?pack=classic&scenario={CODE}&tier=hard&seed=42&left=random&right=heuristic"
ARENA = "?pack=arena&split=test&tier=hard&seed=3&left=random&right=oracle"
SEAT = "?mode=seat&pack=classic&scenario=mystery&tier=hard&seed=5&role=oversight&partners=heuristic"


class Visitor:
    """A browser context with one page; anything the console complains of fails the test."""

    def __init__(self, browser: Browser, site: str, **options: Any) -> None:
        # Smooth scrolling and animations would only make the tests wait.
        options = {"viewport": DESKTOP, "reduced_motion": "reduce", **options}
        self.context: BrowserContext = browser.new_context(base_url=site, **options)
        self.context.set_default_timeout(PATIENCE)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.forgiven: tuple[str, ...] = ()
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _listen(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def forgive(self, *words: str) -> None:
        """The browser itself notes each refused request, sooner or later; nothing else is said."""
        self.forgiven += words

    def __enter__(self) -> Page:
        return self.page

    def __exit__(self, kind: object, *_: object) -> None:
        self.context.close()
        if kind is None:
            assert [c for c in self.complaints if not any(w in c for w in self.forgiven)] == []


def wait_for_form(page: Page) -> None:
    """Until the catalogue has come, the form is inert and has only its first values."""
    page.locator("#setup:not([inert])").wait_for(state="attached")
    advanced = page.locator("#advanced")
    if advanced.get_attribute("open") is None:
        advanced.locator("summary").first.click()


def to_the_end(page: Page) -> None:
    page.select_option("#speed", "0")
    page.locator("#player:not(.playing)").wait_for()


def wait_for_turn(page: Page) -> None:
    page.locator(".your-turn.now").wait_for()


def episodes_asked_for(page: Page) -> list[Request]:
    asked: list[Request] = []
    page.on("request", lambda one: asked.append(one) if "api/episode" in one.url else None)
    return asked


def expect_totals(page: Page, *rewards: str) -> None:
    expect(page.locator(".card .total > :first-child")).to_have_text(rewards)


def expect_in_address(page: Page, words: str) -> None:
    expect(page).to_have_url(re.compile(re.escape(words)))


def hold(page: Page, address: str | re.Pattern[str]) -> list[Route]:
    """The requests to this address wait for ``release``."""
    held: list[Route] = []
    page.route(address, lambda route: held.append(route))
    return held


def release(page: Page, held: list[Route]) -> None:
    while not held:
        page.wait_for_timeout(50)
    held[0].continue_()


def reward(policy: str, **query: str) -> str:
    played = play(read_scenario(query), Team.of(load_policy(policy))).reward
    return f"{played:+.0f}".replace("-", "\N{MINUS SIGN}")


def look_at(page: Page, step: int) -> None:
    page.locator("#scrub").fill(str(step))
