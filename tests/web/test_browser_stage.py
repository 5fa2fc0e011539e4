"""The stage in a real browser: call graph, lanes, ribbon and score on one screen."""

from __future__ import annotations

import re
from functools import cache

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect

from chaosops.core.actions import FlagRogue
from chaosops.core.episode import Turn
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.registry import load_policy
from chaosops.rollout import Team, play
from tests.web.browsing import (
    DESKTOP,
    LINK,
    PHONE,
    Visitor,
    expect_totals,
    look_at,
    needs_browser,
    reward,
    to_the_end,
)

pytestmark = needs_browser

# Calls whose way runs behind the tile of another service. The ways are sampled every 2 pixels.
BEHIND_TILES = """side => {
  const tiles = [...side.querySelectorAll(".tile")].map(tile => {
    const { left, top, right, bottom } = tile.getBoundingClientRect();
    return { name: tile.dataset.service, left, top, right, bottom };
  });
  const found = [];
  for (const path of side.querySelectorAll(".edges path")) {
    const toScreen = path.getScreenCTM();
    const { from, to } = path.dataset;
    for (let at = 0; at <= path.getTotalLength(); at += 2) {
      const { x, y } = path.getPointAtLength(at).matrixTransform(toScreen);
      const behind = tiles.find(tile => tile.name !== from && tile.name !== to &&
        x > tile.left && x < tile.right && y > tile.top && y < tile.bottom);
      if (behind) { found.push(`${from} to ${to} behind ${behind.name}`); break; }
    }
  }
  return found;
}"""
OVERLAPS = """side => {
  const boxes = [...side.querySelectorAll(".tile")].map(tile => tile.getBoundingClientRect());
  const touch = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b => touch(a, b))).length;
}"""
# Calls that leave the drawing, where they would be cut off.
OUTSIDE = """svg => {
  const { width, height } = svg.viewBox.baseVal;
  return [...svg.querySelectorAll("path")].filter(path => {
    const box = path.getBBox();
    return box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > height;
  }).map(path => `${path.dataset.from} to ${path.dataset.to}`);
}"""
# The bytes of the page and its files, as they travelled.
PAGE_WEIGHT = """() => performance.getEntries()
  .filter(({ name, encodedBodySize }) => encodedBodySize && !name.includes("/api/episode"))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)"""
# How far the line of a flag ends from the mark of the act, and from the edge of its service.
LEAD_GAPS = """() => {
  const path = document.querySelector(".lead path");
  const on = at => path.getPointAtLength(at).matrixTransform(path.getScreenCTM());
  const [start, end] = [on(0), on(path.getTotalLength())];
  const act = document.querySelector(".lanes .act.flagged").getBoundingClientRect();
  const tile = document.querySelector(".tile:has(.dot.right)").getBoundingClientRect();
  return [
    Math.hypot(start.x - act.x - act.width / 2, start.y - act.y),
    Math.hypot(end.x - tile.x - tile.width / 2, end.y - tile.bottom),
  ];
}"""


@cache
def largest_company() -> tuple[int, int, int]:
    """A seed of thirty services, and the numbers of its services and calls."""
    for seed in range(100):
        scenario = make_scenario(pack="arena", split="ood_scale", tier="hard", seed=seed)
        rules = Env(scenario).world.public.rules
        if len(rules.services) >= 30:
            return seed, len(rules.services), sum(len(to) for to in rules.calls.values())
    raise AssertionError("no company has thirty services")


def require_clear_calls(page: Page) -> None:
    side = page.locator("#side-0")
    assert side.evaluate(BEHIND_TILES) == []
    assert side.evaluate(OVERLAPS) == 0


@cache
def flagged_case() -> tuple[int, Turn]:
    """A company in which the auditor flags the rogue for an act, and the turn of the flag."""
    for seed in range(100):
        scenario = make_scenario(pack="arena", split="test", tier="hard", seed=seed)
        for turn in play(scenario, Team.of(load_policy("auditor"))).turns:
            action, events = turn.decision.action, turn.events
            if isinstance(action, FlagRogue) and action.evidence and not events.false_flag:
                return seed, turn
    raise AssertionError("the auditor flags nobody for an act")


def case_address(seed: int, left: str = "auditor", right: str = "none") -> str:
    return f"/?pack=arena&split=test&tier=hard&seed={seed}&left={left}&right={right}"


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_call_runs_behind_a_service(browser: Browser, site: str, viewport: ViewportSize) -> None:
    """Above 16 services what is healthy is folded; a button shows all of them."""
    seed, services, calls = largest_company()
    with Visitor(browser, site, viewport=viewport) as page:
        page.goto(f"/?pack=arena&split=ood_scale&tier=hard&seed={seed}&left=heuristic&right=none")
        to_the_end(page)
        look_at(page, 1)
        side = page.locator("#side-0")
        failing = side.locator('.tile:is([data-health="critical"], [data-health="degraded"])')
        expect(failing.first).to_be_visible()
        assert side.locator(".tile.stack").count() >= 1
        assert side.locator(".tile").count() <= 16
        require_clear_calls(page)
        page.get_by_role("button", name=f"Show all {services} services").click()
        expect(side.locator(".tile")).to_have_count(services)
        expect(side.locator(".edges path")).to_have_count(calls)
        require_clear_calls(page)
        page.get_by_role("button", name="Fold what is healthy").click()
        assert side.locator(".tile.stack").count() >= 1
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        assert page.locator(".edges").first.evaluate(OUTSIDE) == []


def test_a_service_is_shown_with_its_callers_and_callees(browser: Browser, site: str) -> None:
    scenario = make_scenario(pack="arena", split="test", tier="hard", seed=3)
    public = Env(scenario).world.public
    calls = public.rules.calls
    name = max(calls, key=lambda caller: len(calls[caller]))
    near = {name, *calls[name], *(caller for caller, to in calls.items() if name in to)}
    with Visitor(browser, site) as page:
        page.goto(case_address(3, "heuristic"))
        to_the_end(page)
        look_at(page, 0)
        page.locator(f'.tile[data-service="{name}"]').hover()
        bright = page.locator(".tile:not(.dim)")
        expect(bright).to_have_count(len(near))
        assert {tile.get_attribute("data-service") for tile in bright.all()} == near
        telling = page.locator(".telling")
        expect(telling).to_contain_text(f"{name} is ")
        expect(telling).to_contain_text("errors ")
        expect(telling).to_contain_text(f"Calls {', '.join(calls[name])}.")
        page.locator("#run-title").hover()
        expect(page.locator(".tile.dim")).to_have_count(0)
        # Every act is a dot in a lane and on its service.
        acts = public.sensors.trace()
        expect(page.locator(".lanes .act")).to_have_count(len(acts))
        on_it = [act for act in acts if act.target == name]
        dots = page.locator(f'.tile[data-service="{name}"] .dot')
        expect(dots).to_have_count(min(6, len(on_it)))
        # The keyboard stops once in the graph; arrows lead from service to service.
        page.locator('.tile[tabindex="0"]').focus()
        first = page.evaluate("document.activeElement.dataset.service")
        page.keyboard.press("ArrowRight")
        second = page.evaluate("document.activeElement.dataset.service")
        assert second not in (None, first)
        expect(telling).to_contain_text(f"{second} is ")
        expect(page.locator("#where")).to_have_text(re.compile(r"^0 /"))
        expect(page.locator('.tile[tabindex="0"]')).to_have_count(1)


def test_at_a_flag_the_act_lights_up(browser: Browser, site: str) -> None:
    seed, turn = flagged_case()
    action = turn.decision.action
    assert isinstance(action, FlagRogue)
    with Visitor(browser, site) as page:
        page.goto(case_address(seed))
        to_the_end(page)
        look_at(page, turn.events.step)
        act = page.locator(".lanes .act.flagged.right")
        expect(act).to_have_count(1)
        expect(page.locator(".lead path.right")).to_have_count(1)
        expect(page.locator(".tile .dot.right")).to_have_count(1)
        assert page.evaluate(LEAD_GAPS) == pytest.approx([0, 0], abs=8)
        act.hover()
        expect(page.locator(".telling")).to_contain_text(f"{action.target} #{action.evidence}: ")
        expect(page.locator(".tile.pointed .dot.right")).to_have_count(1)
        row = page.locator("#columns .message.flags.right")
        expect(row).to_contain_text(f"accuses {action.target}")
        expect(row.locator(".icon-flag")).to_be_visible()
        audit = page.locator("#columns .message", has_text="audits ").first
        expect(audit.locator(".icon-look")).to_be_visible()
        expect(page.locator("#ribbons .span").last).to_contain_text(action.target)
        look_at(page, turn.events.step + 1)
        expect(page.locator(".lead path")).to_have_count(0)
        expect(act).to_have_count(1)
        # A click on the clock leads to its step.
        flag = page.locator(".lanes .turn.flag").bounding_box()
        assert flag is not None
        page.mouse.click(flag["x"] + 5, flag["y"] + 5)
        expect(page.locator("#where")).to_have_text(re.compile(rf"^{turn.events.step} /"))
        expect(page.locator(".lead path")).to_have_count(1)


@pytest.mark.parametrize(
    "viewport",
    [DESKTOP, ViewportSize(width=1920, height=1080)],
    ids=["1280x800", "1920x1080"],
)
def test_a_run_fits_one_screen(browser: Browser, site: str, viewport: ViewportSize) -> None:
    seed, turn = flagged_case()
    with Visitor(browser, site, viewport=viewport, bypass_csp=True, color_scheme="dark") as page:
        page.goto(case_address(seed, "random", "auditor"))
        to_the_end(page)
        look_at(page, turn.events.step)
        page.locator("#run").evaluate("run => run.scrollIntoView()")
        bar = page.locator("#player").bounding_box()
        assert bar is not None
        for side in (0, 1):
            for part in (".strip", ".banner", ".canvas", ".lanes"):
                box = page.locator(f"#side-{side} {part}").bounding_box()
                assert box is not None, part
                assert box["y"] >= 50, part
                assert box["y"] + box["height"] <= bar["y"], part
        assert 20_000 < page.evaluate(PAGE_WEIGHT) < 350_000
        found = Axe().run(page, "#cards")
        assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("width", [1024, 820])
def test_nothing_scrolls_sideways_beside_another_team(
    browser: Browser, site: str, width: int
) -> None:
    """This company is too deep for half a screen: its graph stands upright."""
    with Visitor(browser, site, viewport=ViewportSize(width=width, height=768)) as page:
        page.goto(case_address(2, "heuristic", "auditor"))
        to_the_end(page)
        boxes = page.locator(".graph .scroller")
        expect(boxes).to_have_count(2)
        sizes = boxes.evaluate_all("all => all.map(box => [box.scrollWidth, box.clientWidth])")
        assert all(needed <= given for needed, given in sizes), sizes
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        require_clear_calls(page)


def test_a_flag_without_an_act_says_why_no_line_is_drawn(browser: Browser, site: str) -> None:
    """Flags of the classic pack name an agent alone."""
    why = "The flag names an agent, but no act of it: no line leads to a service."
    with Visitor(browser, site) as page:
        page.goto(LINK)
        to_the_end(page)
        look_at(page, 2)
        expect(page.locator("#side-1 .banner.flag .evidence")).to_have_attribute("title", why)
        expect(page.locator("#side-1 .lead path")).to_have_count(0)
        page.locator("#side-1 .lanes .turn.flag").hover()
        expect(page.locator("#side-1 .telling")).to_contain_text(why)


def test_every_flag_is_counted_beside_the_name(browser: Browser, site: str) -> None:
    """A right flag does not hide false ones."""
    seed = next(seed for seed in range(200) if {True, False} <= set(verdicts_of_random(seed)))
    wrong = verdicts_of_random(seed).count(False)
    with Visitor(browser, site) as page:
        page.goto(case_address(seed, "random"))
        to_the_end(page)
        expect(page.locator("#minis .tag.right")).to_have_text("caught")
        words = f"{wrong} false flag" + ("" if wrong == 1 else "s")
        expect(page.locator("#minis .tag.false")).to_have_text(words)


@cache
def verdicts_of_random(seed: int) -> tuple[bool, ...]:
    scenario = make_scenario(pack="arena", split="test", tier="hard", seed=seed)
    turns = play(scenario, Team.of(load_policy("random"))).turns
    flags = [turn for turn in turns if isinstance(turn.decision.action, FlagRogue)]
    known = [turn.events for turn in flags if turn.events.miscommunication is None]
    return tuple(not events.false_flag for events in known if not events.unknown_flag)


def test_words_are_explained(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto(case_address(3, "heuristic"))
        to_the_end(page)
        for word, meaning in (
            ("time (mttr)", "Mean time to recovery"),
            ("cascade", "breaks another"),
        ):
            button = page.get_by_role("button", name=word)
            button.focus()
            page.keyboard.press("Enter")
            note = page.locator(".meaning:popover-open")
            expect(note).to_contain_text(meaning)
            expect(note).to_be_in_viewport(ratio=1)
            page.keyboard.press("Escape")
            expect(note).to_have_count(0)
        page.get_by_role("button", name="What does split mean?").click()
        expect(page.locator(".meaning:popover-open")).to_contain_text("Which companies are drawn")


def test_a_lost_connection_is_tried_again(browser: Browser, site: str) -> None:
    """The server dies in the middle, is gone for one attempt, and comes back."""
    address = case_address(3, "heuristic")
    visitor = Visitor(browser, site)
    with visitor as page:
        asked: list[str] = []

        def answer(route: Route) -> None:
            asked.append(route.request.url)
            if len(asked) == 1:
                whole = route.fetch()
                lines = whole.text().splitlines(keepends=True)
                route.fulfill(response=whole, body="".join(lines[:4]))
            elif len(asked) == 2:
                route.abort()
            else:
                route.continue_()

        page.route("**/api/episode?*", answer)
        page.goto(address)
        page.select_option("#speed", "0")
        banner = page.locator("#side-0 .banner")
        expect(banner).to_contain_text("Connection lost")
        expect(banner).to_contain_text("trying again in 1 s")
        expect(page.locator("#announce")).to_contain_text("heuristic has lost its connection")
        to_the_end(page)
        assert len(asked) == 3
        query = {"pack": "arena", "split": "test", "tier": "hard", "seed": "3"}
        expect_totals(page, reward("heuristic", **query))
        expect(banner).to_contain_text("esolved in")
        visitor.forgive("ERR_FAILED")


def test_the_form_waits_for_its_server(browser: Browser, site: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        page.route("**/api/catalogue", lambda route: route.abort(), times=1)
        page.goto("/")
        expect(page.get_by_role("alert")).to_contain_text("cannot be reached, trying again in 1 s")
        expect(page.locator("#notice")).to_be_hidden()
        page.locator("#setup:not([inert])").wait_for(state="attached")
        visitor.forgive("ERR_FAILED")
