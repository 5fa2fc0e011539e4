"""Views, episodes and results under a cell of a notebook."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from IPython.core.formatters import DisplayFormatter

import chaosops
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.evaluation.metrics import METRICS, cells
from chaosops.evaluation.results import Results, save
from tests.browser import REASON, find_browser
from tests.report.test_episode_documents import Reader

NASTY = "<script>alert(1)</script><img src=x onerror=y> \x1b[2J </table></div> \u202e"


@pytest.fixture(scope="module")
def results() -> Results:
    return chaosops.evaluate(
        ["heuristic", "oracle"], chaosops.scenarios("published", tiers=["hard"], seeds=1)
    )


def shown() -> dict[str, Any]:
    """Something of each kind, with a text that a player chose."""
    said = {"action": "communicate", "message": NASTY}
    things: dict[str, Any] = {}
    for pack in ("classic", "arena"):
        env = Env(chaosops.make_scenario(pack=pack, tier="hard", seed=3))
        looked = {"action": "inspect", "target": env.view.rules.services[0]}
        for step in range(12):
            things[f"{pack} {env.role} {step}"] = env.view
            env.step(looked if step == 4 else said)
        episode = chaosops.play(env.scenario, "random")
        episode.team = NASTY
        things[f"{pack} episode"] = episode
        things[f"{pack} results"] = Results({}, {NASTY: [episode]})
    return things


def test_every_kind_is_small_safe_and_shown_by_ipython() -> None:
    formatter: Any = DisplayFormatter  # untyped
    show = formatter().format
    for name, thing in shown().items():
        html = show(thing)[0]["text/html"]
        assert len(html) < 12_000, name
        reader = Reader(html)
        used = {"style", "div", "p", "b", "table", "thead", "tbody", "tr", "th", "td"}
        assert set(reader.tags) <= used | {"details", "summary"}, name
        assert set(reader.attributes) == {("class", "chaosops")}, name
        assert not [bad for bad in ("url(", "@import", "\x1b", "\u202e") if bad in html], name


def test_a_view_shows_what_its_role_sees() -> None:
    env = Env(chaosops.make_scenario(pack="arena", tier="hard", seed=3))
    texts = {}
    for _ in Role:
        texts[env.role] = Reader(env.view._repr_html_()).text
        env.step({"action": "noop"})
    assert {role for role, text in texts.items() if "acts of the fleet" in text} == {Role.OVERSIGHT}
    assert {role for role, text in texts.items() if "charter" in text} == {Role.OVERSIGHT}
    assert {role for role, text in texts.items() if "latency ms" in text} == {
        Role.SRE,
        Role.OVERSIGHT,
    }
    agents = env.view.rules.agents or Env(env.scenario).world.public.rules.agents
    for role in (Role.SRE, Role.DEV, Role.MANAGER):
        assert not [agent for agent in agents if agent in texts[role]], role


def test_an_episode_shows_its_turns_and_the_truth() -> None:
    scenario = chaosops.make_scenario("autoscaler_cost_cut", tier="hard", seed=42)
    text = Reader(chaosops.play(scenario, "heuristic")._repr_html_()).text
    assert "flag_rogue autoscaler" in text
    assert "ROGUE CAUGHT" in text
    assert "it was autoscaler_cost_cut, rogue autoscaler caught" in text


def test_results_show_their_summary(results: Results) -> None:
    html = results._repr_html_()
    for row in results.summary():
        assert "".join(f"<td>{cell}</td>" for cell in cells(row, METRICS)) in html


def test_results_become_a_data_frame(results: Results) -> None:
    frame = results.to_pandas()
    episodes = [episode for of in results.episodes.values() for episode in of]
    assert list(frame["reward"]) == [episode.reward for episode in episodes]
    assert list(frame["seed"]) == [episode.scenario.seed for episode in episodes]
    assert list(frame["policy"].unique()) == ["heuristic", "oracle"]
    assert list(frame["rogue_caught"].isna()) == [episode.rogue is None for episode in episodes]
    parts = frame.filter(like="reward_").sum(axis=1)
    assert list(parts) == pytest.approx(list(frame["reward"]))
    assert str(frame["reward"].dtype) == "float64"
    caught = frame[frame["policy"] == "oracle"]["rogue_caught"].mean()
    assert caught == 1.0


def test_stored_results_become_the_same(results: Results, tmp_path: Path) -> None:
    save(results, tmp_path)
    again = chaosops.stored_results(str(tmp_path))
    assert again.records() == results.records()


def test_without_pandas_the_pip_line_is_said(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(chaosops.ChaosOpsError, match=r"needs pandas.* install .*\[notebook\]"):
        results.to_pandas()
    assert len(results.records()) == sum(map(len, results.episodes.values()))


# As JupyterLab has it.
JUPYTER = ".cell td, .cell th { text-align: right; vertical-align: middle; border: 3px solid; }"


@pytest.mark.skipif(find_browser() is None, reason=REASON)
@pytest.mark.parametrize("ink", ["rgb(33, 33, 33)", "rgb(220, 220, 220)"])
def test_text_has_the_colour_of_the_notebook(ink: str) -> None:
    """A notebook is light or dark. Only the notebook knows."""
    from playwright.sync_api import sync_playwright

    cell = "".join(thing._repr_html_() for thing in shown().values())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        page = browser.new_page()
        page.set_content(
            f'<style>{JUPYTER}</style><body style="color:{ink}"><div class=cell>{cell}</div>'
        )
        seen = page.evaluate(
            """[...document.querySelectorAll('.chaosops, .chaosops *')].map(each => {
              const style = getComputedStyle(each);
              return [style.color, style.backgroundColor].join(' on ');
            })"""
        )
        aligned = page.evaluate(
            "[...document.querySelectorAll('td')].map(each => getComputedStyle(each).textAlign)"
        )
        browser.close()
    assert set(seen) == {f"{ink} on rgba(0, 0, 0, 0)"}
    assert set(aligned) == {"left"}
