"""The guided case, finished by a visitor who has read nothing and follows the screen."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

import chaosops
from chaosops.packs import load_pack, make_scenario
from chaosops.web.choices import catalogue
from tests.web.browsing import (
    DESKTOP,
    PHONE,
    SEAT,
    Visitor,
    expect_in_address,
    needs_browser,
    wait_for_turn,
)

STATIC = Path(chaosops.__file__).parent / "web/static"
WIDE = ViewportSize(width=1920, height=1080)
TURNS = 8
GUIDED = catalogue()["guided"]
RULES = [
    "An audit tells the truth",
    "A flag quarantines",
    "A rogue that nobody stops strikes again",
    "An innocent agent in quarantine is missed",
]


def click(part: Locator) -> None:
    part.click()


def press(part: Locator) -> None:
    """By the keyboard alone. The coach's button leads to where the next key is pressed."""
    page = part.page
    page.get_by_role("button", name="Show me where").focus()
    page.keyboard.press("Enter")
    expect(part).to_be_focused()
    page.keyboard.press("Space")


def next_word(page: Page) -> str | None:
    """What the coach asks for; None at the end."""
    page.locator(".coach-here:visible, #lessons .courses").first.wait_for()
    if page.locator("#lessons .courses").is_visible():
        return None
    return page.locator(".coach .todo strong").inner_text()


def follow(page: Page, word: str, do: Callable[[Locator], None]) -> None:
    found = re.fullmatch("(Press|Choose) “(.+)”.*", word)
    assert found, word
    kind, name = found.groups()
    role = "button" if kind == "Press" else "radio"
    do(page.get_by_role(role, name=name, exact=kind == "Press"))  # type: ignore[arg-type]


def require_accessible(page: Page) -> None:
    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@needs_browser
@pytest.mark.parametrize(
    ("viewport", "scheme", "do"),
    [(DESKTOP, "light", click), (WIDE, "dark", press), (PHONE, "dark", click)],
    ids=["desktop", "wide, by keys", "phone"],
)
def test_who_has_read_nothing_finishes_the_case(
    browser: Browser,
    site: str,
    viewport: ViewportSize,
    scheme: str,
    do: Callable[[Locator], None],
) -> None:
    options = {"viewport": viewport, "color_scheme": scheme}
    with Visitor(browser, site, bypass_csp=True, **options) as page:
        page.goto("/guide")
        said = []
        for _ in range(TURNS):
            word = next_word(page)
            if word is None:
                break
            said.append(page.locator(".coach").inner_text())
            if len(said) == 3:
                require_accessible(page)
                page.reload()  # nothing is lost
                assert next_word(page) == word
            follow(page, word, do)
        heading = page.get_by_role("heading", name="Case closed: you caught it")
        expect(heading).to_be_focused()
        assert "never happened" in said[1]
        assert "strikes again" in said[2]
        courses = page.locator(".course")
        expect(courses).to_have_count(3)
        expect(courses.nth(0)).to_contain_text("the fault stayed away")
        expect(courses.nth(1)).to_contain_text("struck again")
        expect(courses.nth(2)).to_contain_text("Nobody did the work of")
        expect(page.locator(".rules h3")).to_have_text(RULES)
        require_accessible(page)


def first_suspect(page: Page) -> str:
    """Whom the coach wants to be audited first: the agent that the trace shows, and no rogue."""
    audit = re.fullmatch("Press “Audit (.+)”.", next_word(page) or "")
    assert audit
    return audit[1]


def flag_at_once(page: Page) -> str:
    agent = first_suspect(page)
    card = page.get_by_role("article", name=agent, exact=True)
    card.get_by_role("radio").first.check()
    page.get_by_role("button", name=f"Flag {agent}").click()
    expect(card.locator(".stamp")).to_be_visible()
    return agent


def wait_to_the_end(page: Page) -> None:
    for _ in range(TURNS):
        if next_word(page) is None:
            return
        click(page.get_by_role("button", name="Do nothing"))


@needs_browser
def test_the_coach_tells_what_follows_a_wrong_flag(browser: Browser, site: str) -> None:
    """Who follows it stops the rogue, too late for the incident."""
    with Visitor(browser, site) as page:
        page.goto("/guide")
        agent = flag_at_once(page)
        said = []
        for _ in range(2 * TURNS):
            word = next_word(page)
            if word is None:
                break
            said.append(page.locator(".coach").inner_text())
            follow(page, word, click)
        assert f"{agent} is in quarantine" in said[0]
        assert "No signed record shows yet" in said[0]
        assert f"framed {agent}" in said[1]
        assert "An innocent agent is missed" in said[2]
        rogue = re.search(r"Flag (\w+)", said[3])
        assert rogue
        for words in said[4:]:  # whatever the SRE names meanwhile
            assert f"{rogue[1]} is in quarantine" in words
            assert "a repair is now for good" in words
            assert f"nobody does the work of {agent}" in words
        expect(page.locator("#lessons h2").first).to_have_text(
            re.compile("^You caught the rogue, but")
        )
        expect(page.locator(".course").first).to_contain_text(f"{agent} was innocent")
        titles = ["What you did", "Had you done nothing", f"Had you flagged {rogue[1]} at once"]
        expect(page.locator(".course h3")).to_have_text(titles)


@needs_browser
def test_a_wrong_flag_teaches_too(browser: Browser, site: str) -> None:
    """A visitor who flags at once whom the trace shows gets to the end, and can try again."""
    visitor = Visitor(browser, site)
    with visitor as page:
        refusal = {"detail": "too many episodes"}
        page.route("**/api/episode?*", lambda route: route.fulfill(status=429, json=refusal))
        page.goto("/guide")
        agent = flag_at_once(page)
        wait_to_the_end(page)
        expect(page.get_by_role("heading", name="The rogue got away")).to_be_visible()
        expect(page.locator(".course").first).to_contain_text(f"{agent} was innocent")
        expect(page.locator("#notice")).to_contain_text("too many episodes")
        visitor.forgive("429")
        page.unroute("**/api/episode?*")
        page.reload()  # the end is in the address, too
        expect(page.locator(".course")).to_have_count(3)
        page.get_by_role("link", name="Play it again").click()
        assert first_suspect(page) == agent


@needs_browser
def test_who_did_nothing_sees_what_waiting_cost_once(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/guide")
        wait_to_the_end(page)
        expect(page.locator(".course h3").first).to_have_text("What you did")
        titles = page.locator(".course h3").all_inner_texts()
        assert "Had you done nothing" not in titles
        assert len(titles) == 3
        mine, best = (
            int(
                page.locator(".course .end span")
                .nth(i)
                .inner_text()
                .split()[0]
                .replace("\N{MINUS SIGN}", "-")
            )
            for i in (0, 2)
        )
        cost = f"Waiting cost {best - mine} points, compared with a right flag at once"
        expect(page.locator(".course .cost")).to_have_text(re.compile(f"^{cost}"))


@needs_browser
def test_two_innocent_agents_were_innocent(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/guide")
        first = flag_at_once(page)
        # Neither the one that was framed nor the rogue, which the coach asks for next.
        asked = {first, first_suspect(page)}
        page.get_by_role("button", name="Do nothing").click()
        wait = page.locator(".coach-here:visible")
        wait.first.wait_for()
        cards = page.locator(".dossier:not(.held)")
        names = cards.evaluate_all("all => all.map(card => card.getAttribute('aria-label'))")
        scenario = make_scenario(None, **{**GUIDED, "seed": int(GUIDED["seed"])})
        rogue = load_pack(scenario.pack).open(scenario)[1].rogue
        other = next(name for name in names if name not in asked and name != rogue)
        card = page.get_by_role("article", name=other, exact=True)
        for fold in card.locator("details:not([open]) summary").all():
            fold.click()
        card.get_by_role("radio").first.check()
        page.get_by_role("button", name=f"Flag {other}").click()
        expect(card.locator(".stamp")).to_be_visible()
        wait_to_the_end(page)
        told = f"{first} and {other} were innocent, and their work was not done."
        expect(page.locator(".course").first).to_contain_text(told)


@needs_browser
@pytest.mark.parametrize("moves", ["zzz", '[{"action":"fly"}]'])
def test_a_damaged_address_offers_a_new_start(browser: Browser, site: str, moves: str) -> None:
    visitor = Visitor(browser, site)
    with visitor as page:
        visitor.forgive("400", "410")
        page.goto(f"/guide?moves={moves}")
        expect(page.get_by_role("alert")).to_contain_text(
            "The moves in this address cannot be played"
        )
        page.get_by_role("link", name="Start the case anew").click()
        first_suspect(page)


@needs_browser
def test_the_guide_is_kept_while_another_game_is_played(browser: Browser, site: str) -> None:
    with Visitor(browser, site) as page:
        page.goto("/guide")
        agent = first_suspect(page)
        follow(page, f"Press “Audit {agent}”.", click)
        expect(page.locator(".coach .count")).to_have_text("Your turn 2")
        page.goto(SEAT)
        wait_for_turn(page)
        page.get_by_role("button", name="Do nothing").click()
        expect_in_address(page, "moves=")
        wait_for_turn(page)
        page.goto("/")
        lines = page.locator(".unfinished")
        expect(lines).to_have_count(2)
        lines.filter(has_text="the guided case").get_by_role("link", name="Go on with it").click()
        expect(page.locator(".coach .count")).to_have_text("Your turn 2")
        page.goto("/guide")
        expect(page.locator(".unfinished")).to_contain_text("the guided case")
        page.get_by_role("link", name="Go on with it").click()
        expect(page.locator(".coach .count")).to_have_text("Your turn 2")


def test_no_file_of_the_page_knows_who_did_it() -> None:
    scenario = make_scenario(None, **{**GUIDED, "seed": int(GUIDED["seed"])})
    incident = load_pack(scenario.pack).open(scenario)[1]
    assert incident.rogue
    files = [*STATIC.glob("*.js"), *STATIC.parent.glob("templates/**/*.html")]
    assert not [path.name for path in files if incident.rogue in path.read_text(encoding="utf-8")]
    assert incident.rogue not in str(GUIDED)
