"""The page of results: the heat map, the episodes of a cell, and what a visitor may change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, expect

from chaosops.policies.registry import default_policies
from chaosops.web.routes import Settings
from tests.web.browsing import (
    DESKTOP,
    PHONE,
    POLICIES,
    Visitor,
    expect_in_address,
    needs_browser,
    to_the_end,
)
from tests.web.conftest import serving
from tests.web.reports import SEEDS, evaluate_splits, pretend_run

pytestmark = needs_browser

WIDE = ViewportSize(width=1920, height=1080)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("results")
    evaluate_splits(place, "test", "ood_names")
    pretend_run(place / "run")
    Image.new("L", (800, 700), 255).save(place / "run/learning_curve.png")
    with serving(Settings(policies=POLICIES, results=[place])) as where:
        yield where


def open_results(page: Page, query: str = "") -> None:
    page.goto(f"/results{query}")
    page.locator(".dots .dot").first.wait_for()


@pytest.mark.parametrize("size", [DESKTOP, WIDE, PHONE], ids=["laptop", "wide", "phone"])
def test_everybody_can_read_it(browser: Browser, site: str, size: ViewportSize) -> None:
    """On one screen where there is room; axe-core in light and dark; no scrolling sideways."""
    with Visitor(browser, site, bypass_csp=True, viewport=size, color_scheme="light") as page:
        open_results(page)
        titles = page.locator(".heat-part figcaption .word")
        expect(titles).to_have_text(["Solved", "Rogue caught", "False flags", "Mean reward"])
        for place in ("#map", "#failures", ".dots"):
            box = page.locator(place).bounding_box()
            assert box is not None
            assert size == PHONE or box["y"] + box["height"] <= size["height"], place
        if size != PHONE:
            require_rows_in_line(page)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def require_rows_in_line(page: Page) -> None:
    """The names of the rows stand once, so the rows of all metrics are at the same height."""
    places = page.locator(".heat-part").evaluate_all(
        "parts => parts.map(part => [...part.querySelectorAll('tbody tr')]"
        ".map(row => row.getBoundingClientRect().y))"
    )
    assert len(places) == 4
    assert all(part == pytest.approx(places[0], abs=0.5) for part in places)


def test_the_keyboard_alone_leads_from_a_cell_to_its_episode(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        open_results(page)
        page.locator(".sorter").first.focus()
        while not page.evaluate("document.activeElement.matches('button.cell')"):
            page.keyboard.press("Tab")
        page.keyboard.press("ArrowUp")  # at the edge nothing happens
        page.keyboard.press("ArrowLeft")  # over the cell without a rogue, to Solved
        expect(page.locator(".tip")).to_contain_text("New companies, hard, Solved")
        expect(page.locator(".tip")).to_contain_text("interval")
        page.keyboard.press("Escape")
        expect(page.locator(".tip")).to_be_hidden()
        page.keyboard.press("ArrowRight")
        expect(page.locator(".tip")).to_contain_text("Rogue caught")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator(".dots h2")).to_have_text("New names, hard: rogue caught")
        expect_in_address(page, "ood_names")
        page.locator(".dot[tabindex='0']").focus()
        page.keyboard.press("ArrowRight")
        words = page.locator(".dot-words")
        expect(words).to_contain_text("auditor:")
        said = re.search(r"seed (\d+)", words.inner_text())
        assert said
        rewards = re.findall(r"reward (\S+)", words.inner_text())
        page.keyboard.press("Enter")
        expect_in_address(page, f"split=ood_names&tier=hard&seed={said[1]}&left=heuristic")
        expect(page.locator("#run-title")).to_have_text(re.compile("recorded"))
        to_the_end(page)
        for side, reward in enumerate(reversed(rewards)):  # the second policy is on the left
            expect(page.locator("#minis a b").nth(side)).to_have_text(reward)


def test_a_tap_tells_the_interval_and_shows_every_episode(browser: Browser, site: str) -> None:
    with Visitor(browser, site, viewport=PHONE, has_touch=True, is_mobile=True) as page:
        open_results(page)
        cell = page.locator("button.cell[aria-label^='New names, hard, Mean reward']")
        cell.tap()
        expect(page.locator(".dots h2")).to_have_text("New names, hard: mean reward")
        expect(page.locator(".dots .lines")).to_contain_text("95 % interval")
        expect(page.locator(".dots .dot")).to_have_count(SEEDS)
        expect(page.locator(".dots h2")).to_be_in_viewport()


def test_rows_are_sorted_and_filtered_and_the_address_keeps_it(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        open_results(page)
        first = page.locator(".heat-part").first
        column = first.get_by_role("button", name="hard", exact=True)

        def values() -> list[float]:
            cells = first.locator("tbody td:last-child").all_inner_texts()
            return [float(text.replace("\N{MINUS SIGN}", "-")) for text in cells]

        unsorted = values()
        assert len(unsorted) == 2
        column.click()
        assert values() == sorted(unsorted, reverse=True)
        expect(column).to_be_focused()
        column.click()
        assert values() == sorted(unsorted)
        expect(first.locator("th[aria-sort='ascending']")).to_have_text(re.compile("hard"))
        page.locator("#tiers .chip", has_text="easy").click()
        expect(first.locator("thead th")).to_have_count(2)
        page.select_option("#against", "random")
        expect(page.locator(".heat-part table").first).to_have_attribute(
            "aria-label", "Solved: auditor minus random"
        )
        page.reload()
        expect(first.locator("thead th")).to_have_count(2)
        expect(first.locator("th[aria-sort='ascending']")).to_have_count(1)
        expect(page.locator("#against")).to_have_value("random")


def test_a_policy_that_flattens_the_axes_can_be_switched(browser: Browser, site: str) -> None:
    """Random is off at first: next to it, the others could not be told apart."""
    with Visitor(browser, site) as page:
        open_results(page)
        charts = page.locator(".report .tiers svg")
        expect(charts.first).to_have_attribute("aria-label", re.compile("heuristic"))
        assert "random" not in (charts.first.get_attribute("aria-label") or "")
        before = ticks(page)
        page.locator("#policies .chip", has_text="random").click()
        expect(page.locator("#policies .chip", has_text="random")).to_be_focused()
        expect(charts.first).to_have_attribute("aria-label", re.compile("random"))
        assert min(ticks(page)) < 2 * min(before)
        expect(page.locator(".report tbody td:first-child", has_text="random")).to_have_count(4)
        page.reload()
        expect(page.locator("#policies .chip[aria-pressed='false']")).to_have_count(0)


def ticks(page: Page) -> list[float]:
    texts = page.locator(".report .tiers figure").first.locator("svg > text:not(.name)")
    return [float(text.replace("\N{MINUS SIGN}", "-")) for text in texts.all_text_contents()]


@pytest.mark.parametrize("size", [DESKTOP, WIDE, PHONE], ids=["laptop", "wide", "phone"])
def test_everybody_can_follow_the_training(browser: Browser, site: str, size: ViewportSize) -> None:
    with Visitor(browser, site, bypass_csp=True, viewport=size, color_scheme="light") as page:
        page.goto("/training")
        titles = page.locator(".story h3")
        expect(titles).to_have_count(4)
        expect(titles.first).to_have_text("Before training")
        expect(titles.last).to_have_text(re.compile(r"The end, update \d+"))
        expect(page.locator(".over")).to_have_text(
            re.compile("^The figures are means over .* of hard")
        )
        counted = page.locator(".update").last.locator("dt small")
        expect(counted).to_have_count(4)
        expect(counted.nth(1)).to_have_text(re.compile(r"^of \d+ episodes with a rogue$"))
        # Figures side by side stand on one line, however long the words below them are.
        tops = (
            page.locator(".update")
            .last.locator("dd")
            .evaluate_all("all => all.map(one => Math.round(one.getBoundingClientRect().top))")
        )
        assert tops[0] == tops[1] < tops[2] == tops[3]
        one = re.compile(r"^One episode alone \(hard, seed \d+\): ")
        expect(page.locator(".update .one").last).to_have_text(one)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_baselines_are_drawn_and_switched_and_a_company_is_watched(
    browser: Browser, site: str
) -> None:
    with Visitor(browser, site) as page:
        page.goto("/training")
        chart = page.locator(".told .chart svg").last
        expect(chart.locator("text.level").first).to_be_visible()
        labels = ", ".join(chart.locator("text.level").all_text_contents())
        assert set(labels.split(", ")) == set(default_policies("arena")) - {"random"}
        page.get_by_role("button", name="auditor", exact=True).click()
        expect(page.get_by_role("button", name="auditor", exact=True)).to_be_focused()
        assert "auditor" not in "".join(chart.locator("text.level").all_text_contents())
        page.get_by_role("button", name="easy", exact=True).press("Enter")
        expect(chart).to_have_attribute("aria-label", re.compile("Mean reward on easy"))
        page.reload()
        expect(chart).to_have_attribute("aria-label", re.compile("Mean reward on easy"))
        assert "auditor" not in "".join(chart.locator("text.level").all_text_contents())
        last = page.locator(".update").last
        reward = re.search(r"reward (\S+)\.", last.inner_text())
        assert reward
        last.get_by_role("link").click()
        expect(page.locator("#run-title")).to_have_text(re.compile("train · hard .* recorded"))
        to_the_end(page)
        expect(page.locator("#minis a b").nth(1)).to_have_text(reward[1])


@pytest.mark.parametrize("page_name", ["results", "training"])
def test_a_server_that_is_away_is_asked_again(browser: Browser, site: str, page_name: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        page.route(f"**/api/{page_name}", lambda route: route.abort(), times=1)
        page.goto(f"/{page_name}")
        expect(page.locator("#notice")).to_contain_text("trying again in 1 s")
        expect(page.locator(".heat, .story")).to_be_visible()
        expect(page.locator("#notice")).to_be_hidden()
        visitor.forgive("ERR_FAILED")


def test_a_word_tells_its_meaning_and_figures_do_not_glare(browser: Browser, site: str) -> None:
    with Visitor(browser, site, color_scheme="dark") as page:
        open_results(page)
        page.get_by_role("button", name="False flags", exact=True).press("Enter")
        expect(
            page.get_by_text("An agent that is flagged twice counts twice.").first
        ).to_be_visible()
        page.goto("/training")
        page.get_by_text("Figures", exact=True).click()
        picture = page.locator(".picture img")
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("complete", True)
        assert brightness(picture.screenshot()) < 80
        page.emulate_media(color_scheme="light")
        assert brightness(picture.screenshot()) > 200


def brightness(png: bytes) -> float:
    """The mean of all pixels, 0 to 255."""
    return float(np.asarray(Image.open(BytesIO(png)).convert("L")).mean())


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("pack=zz", "unknown pack “zz” in the address; allowed: arena"),
        ("tiers=hrad", "unknown tier “hrad” in the address; allowed: easy, medium, hard"),
        ("of=zz", "unknown policy “zz” in the address; allowed: "),
        ("off=zz", "unknown policy “zz” in the address; allowed: "),
        ("of=auditor&against=auditor", "auditor cannot be compared with itself"),
        ("sort=zz~hard~descending", "unknown order “zz~hard~descending” in the address; allowed: "),
        ("cell=zz", "the address names a cell that this map does not have"),
    ],
)
def test_a_choice_in_the_address_that_is_not_there_is_told(
    browser: Browser, site: str, asked: str, words: str
) -> None:
    with Visitor(browser, site) as page:
        page.goto(f"/results?{asked}")
        page.locator("button.cell").first.wait_for()
        expect(page.locator("#notice p")).to_have_count(1)
        expect(page.locator("#notice")).to_contain_text(words)
        page.locator("button.cell").first.click()
        page.reload()
        page.locator("button.cell").first.wait_for()
        expect(page.locator("#notice")).to_be_hidden()
