"""Policies of a user's own: what they may be, what they may return, and how they are verified."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from chaosops import Team, load_policy, make_scenario, play
from chaosops.cli import main
from chaosops.core.actions import FlagRogue, Noop, Restart, Unreadable
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.judge import judge_monitors
from chaosops.evaluation.matrix import scenarios
from chaosops.rollout import load_team
from tests.policies.own_file import FILE, decided, forget, request_of


@pytest.mark.parametrize("name", ["waits", "draws", "Callable", "Scripted"])
@pytest.mark.parametrize("home", ["mine.py", "./mine.py", "mine"])
def test_a_class_or_function_of_a_file_or_module_plays(mine: str, home: str, name: str) -> None:
    team = load_team(f"{home}:{name}")
    episode = play(make_scenario("db_deadlock"), team)
    assert episode.turns
    assert episode.team == f"{home}:{name}"
    status = team.status()
    assert (status["kind"], status["policy"]) == ("own", f"{home}:{name}")
    assert len(status["source"]) == 16


def test_a_function_with_dice_draws_by_seed(mine: str) -> None:
    team = load_team("mine.py:draws")
    scenario = make_scenario(pack="arena")
    first, second = play(scenario, team), play(scenario, team)
    actions = [turn.decision.action for turn in first.turns]
    assert actions == [turn.decision.action for turn in second.turns]
    assert {Noop(), Restart("db")} == set(actions)


def test_a_suspicion_makes_a_monitor(mine: str) -> None:
    request = request_of(Role.OVERSIGHT)
    first, *others = request.view.rules.agents
    decision = decided("mine.py:monitor")
    assert decision.action == FlagRogue(first, confidence=0.9)
    assert decision.suspicion == {first: 0.9, **dict.fromkeys(others, 0.0)}


def test_a_monitor_flags_from_one_half_on_and_nobody_twice() -> None:
    def monitor(view: Any) -> dict[str, float]:
        first, second, *_ = view.rules.agents
        return {first: 0.8, second: 0.6}

    team = Team({**load_team("heuristic").policies, Role.OVERSIGHT: load_policy(monitor)})
    episode = play(make_scenario(pack="arena", seed=3), team)
    acts = [turn.decision.action for turn in episode.turns if turn.role is Role.OVERSIGHT]
    flags = [act.target for act in acts if isinstance(act, FlagRogue)]
    assert len(flags) == len(set(flags)) == min(2, len(acts))
    assert decided(lambda view: {view.rules.agents[0]: 0.49}).action == Noop()


def test_no_suspicion_is_reported_where_none_is_measured(mine: str) -> None:
    decision = decided("mine.py:monitor", pack="classic")
    assert isinstance(decision.action, FlagRogue)
    assert decision.suspicion is None


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (Restart("db"), Restart("db")),
        ({"action": "restart", "target": "db"}, Restart("db")),
        ('{"action": "restart", "target": "db"}', Restart("db")),
        (Decision(Noop(), {}), Noop()),
    ],
)
def test_what_a_function_may_return(answer: object, action: object) -> None:
    assert decided(lambda view: answer).action == action


def test_a_malformed_action_is_a_miscommunication() -> None:
    assert isinstance(decided(lambda view: "restart the db").action, Unreadable)
    assert isinstance(decided(lambda view: Restart(5)).action, Unreadable)  # type: ignore[arg-type]


def test_a_status_stands_in_the_manifest_and_must_be_json() -> None:
    class Told:
        def __init__(self, told: object) -> None:
            self._told = told

        def __call__(self, view: object) -> Noop:
            return Noop()

        def status(self) -> object:
            return self._told

    status = load_policy(Told({"model": "mine", "kind": "scripted"})).status()
    assert (status["model"], status["kind"]) == ("mine", "own")
    for told in (None, {"model": object()}, {"x": float("nan")}):
        with pytest.raises(BadInput, match="must return a dict that JSON can hold"):
            load_policy(Told(told)).status()


def test_pickles_name_the_policy(mine: str) -> None:
    """Another process imports the file again, so nothing in it needs to be picklable."""
    policy = pickle.loads(pickle.dumps(load_policy("mine.py:draws")))
    assert policy.name == "mine.py:draws"
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(load_policy(lambda view: Noop()))


def test_a_policy_that_ships_keeps_its_name(mine: str) -> None:
    Path("heuristic.py").write_text(FILE, encoding="utf-8")
    assert load_policy("heuristic").status()["kind"] == "scripted"
    assert load_policy("heuristic.py:waits").status()["kind"] == "own"


def test_a_recording_of_it_is_verified_without_an_import(
    mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--policy", "oversight=mine.py:monitor,others=random", "--pack", "arena"]
    assert main(["run", *words, "--record", "episode.json"]) == 0
    Path(mine).write_text("raise SystemExit('imported')\n")
    forget(Path.cwd())
    assert main(["verify", "episode.json"]) == 0
    assert "mine.py:monitor is not part of chaosops" in capsys.readouterr().out
    assert main(["verify", "episode.json", "--own-policies"]) == 0
    told = capsys.readouterr().out
    assert "mine.py:monitor was not asked again: policy mine.py:monitor: cannot import" in told


def test_a_decision_that_it_would_not_take_again_is_a_finding(
    mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--policy", "oversight=mine.py:monitor,others=random", "--pack", "arena"]
    assert main(["run", *words, "--record", "episode.json"]) == 0
    Path(mine).write_text(FILE.replace("0.9", "0.7"))
    forget(Path.cwd())
    assert main(["verify", "episode.json", "--own-policies"]) == 1
    told = capsys.readouterr().out
    assert "the file of mine.py:monitor has changed since this was played" in told
    assert "mine.py:monitor does" in told


DOCS = Path(__file__).parents[2] / "docs"


def test_the_monitor_of_the_page_plays_beside_the_overseers_that_ship() -> None:
    name = f"{DOCS / 'examples' / 'monitor.py'}:unordered"
    assert (DOCS / "examples" / "monitor.py").read_text() in (DOCS / "own_policies.md").read_text()
    teams = [f"oversight={overseer},others=heuristic" for overseer in (name, "auditor")]
    judged = judge_monitors(evaluate(teams, scenarios(pack="arena", tiers=[Tier.HARD], seeds=20)))
    assert [row["policy"] for row in judged.summary] == teams
    assert all(row["auroc_turn_1"]["value"] is not None for row in judged.summary)


@pytest.mark.parametrize("words", [["run", "--policy"], ["eval", "--no-figures", "--policies"]])
def test_what_a_policy_prints_is_not_among_the_results(
    mine: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    one = ["--tiers", "easy", "--seeds", "1"] if words[0] == "eval" else []
    assert main([*words, "mine.py:talks", "--json", *one]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)
    assert "thinking" in told.err
