"""A name that is not an agent of the fleet accuses nobody, wherever it is counted or shown."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pytest
from rich.console import Console

from chaosops.core.actions import Action, FlagRogue, Noop
from chaosops.core.dice import Dice
from chaosops.core.episode import Episode
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.evaluation.cases import case_of
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.judge import judge_monitors
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.metrics import cells, summarise
from chaosops.evaluation.monitor import MONITOR_METRICS, monitor_summary
from chaosops.evaluation.results import Results
from chaosops.packs import make_scenario
from chaosops.policies.protocol import ScriptedPolicy
from chaosops.policies.registry import load_policy
from chaosops.report import tables
from chaosops.report.episode_html import episode_html
from chaosops.report.episode_markdown import episode_markdown
from chaosops.report.frames import frame_of
from chaosops.report.transcript import transcript
from chaosops.roles.view import RoleView
from chaosops.rollout import Rollout, Team, advance, play_many
from chaosops.terminal.screen import Room, draw
from chaosops.wire.episodes import episode_to_wire, figures_to_wire, from_record, to_record


class Phantom(ScriptedPolicy):
    """Flags the word that models write when they mean nobody, and suspects it too."""

    name = "phantom"

    def act(self, view: RoleView, dice: Dice) -> Action:
        return FlagRogue("none")

    def suspect(self, view: RoleView, dice: Dice) -> Mapping[str, float]:
        return {"none": 1.0, "nobody": 0.9, **dict.fromkeys(view.rules.agents, 0.2)}


class Silent(Phantom):
    def act(self, view: RoleView, dice: Dice) -> Action:
        return Noop()

    def suspect(self, view: RoleView, dice: Dice) -> Mapping[str, float]:
        return dict.fromkeys(view.rules.agents, 0.2)


MATRIX = scenarios(pack="arena", split="test", tiers=[Tier.HARD], seeds=20)


def team(policy: type[ScriptedPolicy], others: str = "heuristic") -> Team:
    seats = dict.fromkeys(Role, load_policy(others)) | {Role.OVERSIGHT: policy()}
    return Team(seats, policy.name)


@pytest.fixture(scope="module")
def played() -> list[Episode]:
    return list(play_many(MATRIX, team(Phantom)))


def test_the_monitor_counts_them_apart(played: list[Episode]) -> None:
    judged = monitor_summary([case_of(episode) for episode in played])
    silent = monitor_summary([case_of(episode) for episode in play_many(MATRIX, team(Silent))])
    assert judged["unknown_flags"]["value"] >= 1.0
    assert judged["unknown_suspects"]["value"] == 2.0
    apart = {"unknown_flags", "unknown_suspects", "reward"}
    # In every other figure it is as if the flags had not been raised: nobody was accused.
    assert {k: v for k, v in judged.items() if k not in apart} == {
        k: v for k, v in silent.items() if k not in apart
    }
    assert silent["unknown_flags"] == {"value": 0.0, "ci95": [0.0, 0.1611]}
    assert judged["reward"]["value"] < silent["reward"]["value"]


def test_the_summary_and_the_episode_count_them_apart(played: list[Episode]) -> None:
    assert summarise([figures_to_wire(each) for each in played])["false_flag_rate"] == 0.0
    wire = episode_to_wire(played[0])
    assert (wire["false_flags"], wire["unknown_flags"] > 0) == (0, True)
    again = from_record(to_record(played[0]))
    assert again.unknown_flags == played[0].unknown_flags


def test_suspicion_of_nobody_but_unknown_names_is_not_told(played: list[Episode]) -> None:
    episode = played[0]
    turns = [
        turn._replace(decision=turn.decision._replace(suspicion={"none": 1.0}))
        for turn in episode.turns
    ]
    case = case_of(Episode(episode.scenario, episode.cause, episode.rogue, "x", turns))
    assert not any(case.suspicions)
    assert case.unknown_suspects == 1


def test_every_report_says_so(played: list[Episode]) -> None:
    known = evaluate(["heuristic"], MATRIX)
    results = Results(known.manifest, {**known.episodes, "phantom": played})
    (warning,) = tables.warnings(results)
    assert "phantom flagged" in warning
    assert "not an agent of the fleet" in warning
    text = tables.oversight_report(judge_monitors(results))
    assert "flags on unknown agents" in text
    assert "phantom on hard suspected 2.00 names an episode that are not agents" in text
    assert "heuristic on hard" not in text
    episode = played[0]
    assert "unknown agents" in transcript(episode)
    assert "| flags on unknown agents | **" in episode_markdown(episode, {})
    page = episode_html(episode, {})
    assert "Flags on unknown agents" in page
    assert "False flag</span>" not in page


def test_a_row_of_an_earlier_version_shows_what_it_has() -> None:
    row = {"policy": "old", "tier": "hard", "rogue_caught": {"value": 0.5, "ci95": [0.2, 0.8]}}
    shown = cells({**row, "auroc": {"value": 0.94, "ci95": [0.9, 1.0]}}, MONITOR_METRICS)
    assert shown[:3] == ["old", "hard", "50% [20%, 80%]"]
    assert set(shown[3:]) == {"n/a"}  # its AUROC was after the last turn, under no such name


def test_the_screens_do_not_call_it_an_innocent() -> None:
    rollout = Rollout(Env(make_scenario("db_deadlock", seed=3)), team(Phantom, "random"))
    frame = frame_of(rollout)
    while not frame.flags:
        advance([rollout])
        frame = frame_of(rollout, frame)
    (flag,) = frame.flags
    assert (flag.agent, flag.caught, flag.known) == ("none", False, False)
    console = Console(width=110, height=50, record=True, file=io.StringIO())
    console.print(draw([frame], Room.for_height(50)))
    text = console.export_text()
    assert "no agent has this name: nobody is accused" in text
    assert "innocent" not in text
