"""A visitor in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, ViewportSize, expect

from chaosops.policies.registry import load_policy
from chaosops.rollout import Team, play
from chaosops.web.choices import read_scenario
from chaosops.web.policy_cache import OFFERED, OfferedPolicy
from tests.browser import REASON, find_browser

PATIENCE = 15_000  # ms: tests share two cores
expect.set_options(timeout=PATIENCE)

needs_browser = pytest.mark.skipif(find_browser() is None, reason=REASON)

MISSING = OfferedPolicy(
    "trained", "the adapter is gone", "local:smollm2+adapter=/nowhere", is_model=True
)
POLICIES = (MISSING, *(entry for entry in OFFERED if not entry.is_model))
PHONE = ViewportSize(width=390, height=844)
DESKTOP = ViewportSize(width=1280, height=800)
LINK = "?pack=classic&scenario=autoscaler_cost_cut&tier=hard&seed=42&left=random&right=heuristic"
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
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _listen(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def forgive(self, *words: str) -> None:
        """The browser itself notes each refused request; nothing else may be said."""
        self.complaints[:] = [
            line for line in self.complaints if not any(word in line for word in words)
        ]

    def __enter__(self) -> Page:
        return self.page

    def __exit__(self, kind: object, *_: object) -> None:
        self.context.close()
        if kind is None:
            assert self.complaints == []


def to_the_end(page: Page) -> None:
    page.select_option("#speed", "0")
    page.locator("#player:not(.playing)").wait_for()


def wait_for_turn(page: Page) -> None:
    page.locator(".your-turn.now").wait_for()


def episodes_asked_for(page: Page) -> list[Request]:
    asked: list[Request] = []
    page.on("request", lambda one: asked.append(one) if "api/episode" in one.url else None)
    return asked


def totals(page: Page) -> list[str]:
    return page.locator(".card .total > :first-child").all_inner_texts()


def reward(policy: str, **query: str) -> str:
    played = play(read_scenario(query), Team.of(load_policy(policy))).reward
    return f"{played:+.0f}".replace("-", "\N{MINUS SIGN}")


def look_at(page: Page, step: int) -> None:
    page.locator("#scrub").fill(str(step))
