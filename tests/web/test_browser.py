"""The page in a real browser, as a visitor uses it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from chaosops.cli import main
from chaosops.policies.registry import load_policy
from chaosops.rollout import Team, play
from chaosops.web.choices import read_scenario
from chaosops.web.routes import Settings
from tests.web.browsing import (
    ARENA,
    CODE,
    DESKTOP,
    LINK,
    PHONE,
    POLICIES,
    SEAT,
    Visitor,
    episodes_asked_for,
    expect_in_address,
    expect_totals,
    look_at,
    needs_browser,
    reward,
    to_the_end,
    wait_for_form,
    wait_for_turn,
)
from tests.web.conftest import serving

pytestmark = needs_browser


def test_a_first_visit_runs_two_teams_by_one_click(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/")
        wait_for_form(page)
        form = {name: page.input_value(f"#{name}") for name in ("scenario", "tier", "seed")}
        assert form == {"scenario": CODE, "tier": "hard", "seed": "42"}
        assert (page.input_value("#left"), page.input_value("#right")) == ("random", "trained")
        page.select_option("#right", "heuristic")
        page.get_by_role("button", name="Run", exact=True).click()
        to_the_end(page)
        right = page.locator("#side-1")
        expect(right).to_contain_text("Resolved in 3 steps")
        expect(page.locator("#side-0")).to_contain_text("Not resolved")
        expect_totals(page, reward("random"), reward("heuristic"))
        expect_in_address(page, LINK)
        look_at(page, 2)
        banner = right.locator(".banner.flag")
        expect(banner).to_contain_text("Oversight flags autoscaler", ignore_case=True)
        expect(banner).to_contain_text("Right: it is the rogue")


def test_a_false_flag_looks_different(browser: Browser, site: str) -> None:
    episode = play(read_scenario({"scenario": "db_deadlock"}), Team.of(load_policy("keyword")))
    first = next(turn for turn in episode.turns if turn.events.false_flag)
    with Visitor(browser, site) as page:
        page.goto("/?scenario=db_deadlock&left=keyword&right=none")
        to_the_end(page)
        look_at(page, first.events.step)
        banner = page.locator("#side-0 .banner.flag.false")
        expect(banner).to_contain_text(f"{first.decision.action.words} is innocent")


def test_a_link_runs_the_same_again(browser: Browser, site: str) -> None:
    seen = []
    with Visitor(browser, site) as page:
        for address in (ARENA, ARENA.replace("pack=arena&", "")):  # a split names its pack
            page.goto("/" + address)
            to_the_end(page)
            seen.append(page.locator("#cards").inner_text() + page.locator("#columns").inner_text())
    assert seen[0] == seen[1]
    query = {"pack": "arena", "split": "test", "tier": "hard", "seed": "3"}
    assert reward("random", **query) in seen[0]


def test_back_and_forth_through_runs(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/" + LINK)
        expect(page.locator("#run-title")).to_contain_text("seed 42")
        page.fill("#seed", "7")
        page.click("#go")
        expect(page.locator("#run-title")).to_contain_text("seed 7")
        to_the_end(page)
        expect_totals(page, reward("random", seed="7"), reward("heuristic", seed="7"))
        page.go_back()
        expect(page.locator("#run-title")).to_contain_text("seed 42")
        expect(page.locator("#seed")).to_have_value("42")


def test_a_missing_adapter_is_unavailable(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/")
        wait_for_form(page)
        page.click("#go")
        card = page.locator("#side-1")
        expect(card.locator(".banner")).to_contain_text("UNAVAILABLE")
        expect(card.locator(".banner")).to_contain_text("no adapter: adapter_model.safetensors")
        assert "/nowhere" not in page.content(), "where the server keeps things is its own affair"
        to_the_end(page)
        expect(card.locator(".status")).to_have_text("UNAVAILABLE")
        expect_totals(page, reward("random"))  # no number under the name of the other


def test_two_visitors_do_not_mix(browser: Browser, site: str) -> None:
    first, second = (Visitor(browser, site) for _ in range(2))
    with first as one, second as two:
        one.goto("/" + LINK)
        two.goto("/" + LINK.replace("seed=42", "seed=7").replace("left=random", "left=keyword"))
        to_the_end(two)
        to_the_end(one)
        expect_totals(one, reward("random"), reward("heuristic"))
        expect_totals(two, reward("keyword", seed="7"), reward("heuristic", seed="7"))


def test_take_a_seat_and_play(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/")
        wait_for_form(page)
        page.get_by_text("Take a seat yourself").click()
        expect(page.locator("#scenario")).to_have_value("mystery")
        page.fill("#seed", "5")
        page.click("#go")
        wait_for_turn(page)
        expect(page.locator("#seat")).to_contain_text("What Oversight sees")
        assert "reward" not in page.locator("#seat").inner_text().replace("rewarded", "")
        page.get_by_label("Say something").fill("<img src=x onerror=alert(1)><b>deploy_bot</b>")
        page.get_by_role("button", name="Say it").click()
        expect(page.locator("#seat")).to_contain_text("<b>deploy_bot</b>")
        assert page.locator("#seat img, #seat .said b").count() == 0, "words are never markup"
        wait_for_turn(page)
        page.get_by_role("group", name="Flag a rogue").get_by_text("deploy_bot").click()
        for _ in range(8):
            page.locator("#run:visible, .your-turn.now:visible").first.wait_for()
            if page.locator("#run").is_visible():
                break
            page.get_by_role("button", name="Do nothing").click()
        expect(page.locator("#side-0 .banner")).to_contain_text("It was crashing workers")
        expect(page.locator("#side-0 .facts")).to_contain_text("right flags")
        shown = page.locator("#cards").inner_text()
        expect_in_address(page, "moves=")
        link = page.url
        page.goto("about:blank")
        page.goto(link)
        to_the_end(page)
        expect(page.locator("#cards")).to_have_text(shown, use_inner_text=True)


def test_a_developer_chooses_a_service_and_then_a_remedy(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/?mode=seat&pack=arena&split=test&tier=easy&seed=3&role=dev")
        wait_for_turn(page)
        service = page.get_by_label("Repair a service").locator("option").nth(1).inner_text()
        page.locator("#menu-service").select_option(service)
        repairs = page.get_by_role("group", name="Repair a service")
        expect(repairs.get_by_role("button", name="Renew certificate")).to_be_visible()
        repairs.get_by_role("button", name="Scale to 8").click()
        expect(page.locator("#seat")).to_contain_text(f"scale {service} to 8")


def test_the_keyboard_does_it_all(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/" + LINK)
        to_the_end(page)
        asked = episodes_asked_for(page)
        for _ in range(5):
            page.keyboard.down("r")
        page.keyboard.up("r")
        to_the_end(page)
        assert len(asked) == 2, "a held key runs once"
        page.locator("body").press("Home")
        expect(page.locator("#where")).to_have_text("0 / 25")
        page.locator("body").press("ArrowRight")
        page.locator("body").press("ArrowRight")
        expect(page.locator("#where")).to_have_text("2 / 25")
        expect(page.locator(".banner.flag")).to_have_count(1)
        page.locator("body").press("End")
        expect(page.locator("#where")).to_have_text("25 / 25")
        page.locator("body").press("?")
        expect(page.locator("#keys")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#keys")).to_be_hidden()
        page.locator("body").press("t")
        expect(page.locator("html")).to_have_attribute("data-theme", "light")
        page.reload()
        expect(page.locator("html")).to_have_attribute("data-theme", "light")
        wait_for_form(page)
        page.locator("#seed").fill("")
        page.keyboard.type("7r")
        expect(page.locator("#seed")).to_have_value("7r")  # typing is not steering


def test_a_bad_link_says_what_is_allowed(browser: Browser, site: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        for where, words in (
            ("?tier=insane", "allowed: easy, medium, hard"),
            ("?seed=-1", "seed must be a whole number"),
            ("?left=/etc/passwd&right=none", "unknown policy"),
            ("?left=none&right=none", "no team was chosen"),
            ("?mode=seat&partners=oracle", "knows the truth"),
        ):
            page.goto("/" + where)
            page.locator("#notice", has_text=words).wait_for()
        visitor.forgive("400")


@pytest.mark.parametrize("where", ["", LINK, ARENA, SEAT, "results", "training"])
def test_everybody_can_use_it(browser: Browser, site: str, where: str) -> None:
    """axe-core, contrast included, on a desktop and on a phone; no page scrolls sideways."""
    # Of a run in the arena, only the stage is not on the page of a classic run.
    part = "#cards" if where == ARENA else None
    with Visitor(browser, site, bypass_csp=True, color_scheme="light") as page:
        page.goto("/" + where)
        if where in (LINK, ARENA):
            to_the_end(page)
            look_at(page, 2)
            require_spoken_health(page)
        elif where == SEAT:
            wait_for_turn(page)
        elif where:
            expect(page.locator("#reports h2")).to_be_visible()
        else:
            wait_for_form(page)
        require_accessible(page, DESKTOP["width"], part)
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size(PHONE)
        require_accessible(page, PHONE["width"], part)
        if where == ARENA:
            for width in (320, 390):
                require_room_for_controls(page, width)


def require_accessible(page: Page, width: int, part: str | None) -> None:
    wait_for_width(page, width)
    found = Axe().run(page, part)
    assert found.violations_count == 0, found.generate_report()


def wait_for_width(page: Page, width: int) -> None:
    """Charts are drawn again after a change of width."""
    page.wait_for_function(
        f"innerWidth === {width} && document.documentElement.scrollWidth <= {width}"
    )


def require_room_for_controls(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 640})
    wait_for_width(page, width)
    for name in ("scrub", "back", "play", "forth", "where", "speed"):
        box = page.locator(f"#{name}").bounding_box()
        assert box is not None, name
        assert box["x"] >= 0, name
        assert box["x"] + box["width"] <= width, name
        if name == "scrub":
            assert box["width"] > width * 0.8
    bar = page.locator("#player").bounding_box()
    assert bar is not None
    assert bar["height"] < 160


def require_spoken_health(page: Page) -> None:
    tile = page.locator(".tile").first
    said = " ".join(re.findall(r"paragraph: (.*)", tile.aria_snapshot()))
    health = r"[\w-]+ (healthy|degraded|critical)"
    assert re.match(rf"{health} err(ors)? [\d.]+% lat(ency)? \d+m?s\b", said), said


def test_a_wide_table_keeps_its_words_in_sight(browser: Browser, tmp_path: Path) -> None:
    """Policy, tier and caption stay when the figures are scrolled; nothing shows between them."""
    options = ["--tiers", "hard", "--seeds", "2", "--policies", "heuristic,oracle", "--no-figures"]
    assert main(["eval", "--pack", "arena", *options, "--out", str(tmp_path)]) == 0
    with (
        serving(Settings(policies=POLICIES, results=[tmp_path])) as site,
        Visitor(browser, site, viewport=PHONE) as page,
    ):
        page.goto("/results")
        figure = page.locator("figure.tabled", has_text="Oversight: value").first
        scroller = figure.locator(".scroller")
        cells = figure.locator("tbody tr").first.locator("td")
        words = [figure.locator("figcaption"), cells.nth(0), cells.nth(1)]
        before = [word.bounding_box() for word in words]
        scroller.evaluate("box => { box.scrollLeft = box.scrollWidth }")
        assert scroller.evaluate("box => box.scrollLeft") > 200
        after = [word.bounding_box() for word in words]
        assert [box and box["x"] for box in after] == [box and box["x"] for box in before]
        assert after[1] is not None
        assert after[2] is not None
        assert after[1]["x"] + after[1]["width"] == pytest.approx(after[2]["x"], abs=0.5)
