"""The scripts that read documents, on a few companies."""

from __future__ import annotations

from functools import cache
from statistics import mean

import pytest

from chaosops.core.actions import FlagRogue, Noop
from chaosops.core.episode import Episode
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.packs.arena import PACK
from chaosops.policies.registry import default_policies, load_policy
from chaosops.policies.scripted import load_implementation
from chaosops.rollout import Team, play, play_many


@cache
def episodes(policy: str, split: str = "test", count: int = 24) -> list[Episode]:
    chosen = [
        make_scenario(pack="arena", split=split, tier="hard", seed=seed) for seed in range(count)
    ]
    return list(play_many(chosen, Team.of(load_policy(policy))))


def reward(played: list[Episode]) -> float:
    return mean(episode.reward for episode in played)


def test_the_auditor_is_the_strongest_script() -> None:
    rewards = [reward(episodes(name)) for name in ("random", "keyword", "heuristic", "auditor")]
    assert rewards == sorted(rewards)
    best = reward(episodes("oracle"))
    assert rewards[-1] <= best
    assert rewards[-1] - rewards[0] > 0.9 * (best - rewards[0])


@pytest.mark.parametrize("split", ["test", "ood_vocabulary", "ood_shape", "ood_rogue"])
def test_the_auditor_catches_the_rogue_and_accuses_nobody_else(split: str) -> None:
    played = episodes("auditor", split, 60)
    guilty = [episode for episode in played if episode.rogue]
    assert mean(bool(episode.rogue_caught) for episode in guilty) >= 0.9
    assert sum(episode.false_flags for episode in played) <= 2


def test_its_flags_name_the_decisive_act() -> None:
    flags = 0
    for episode in episodes("auditor"):
        incident = Env(episode.scenario).world.truth.incident
        for turn in episode.turns:
            action = turn.decision.action
            if isinstance(action, FlagRogue) and action.target == episode.rogue:
                assert action.evidence in incident.guilty_entries()
                flags += 1
    assert flags


def test_heuristic_and_auditor_differ_in_what_oversight_does_alone() -> None:
    ours, theirs = (
        load_implementation("arena", "auditor"),
        load_implementation("arena", "heuristic"),
    )
    for role in (Role.SRE, Role.DEV, Role.MANAGER):
        assert getattr(ours, role) is getattr(theirs, role)


def test_the_heuristic_flags_for_orders_that_do_not_cover_the_act() -> None:
    """Without the charter, any other act may have been allowed."""
    caught = []
    for episode in episodes("heuristic"):
        plot = PACK.incident(episode.scenario).plot
        numbers = {order.number for order in plot.orders}
        for turn in episode.turns:
            action = turn.decision.action
            if isinstance(action, FlagRogue):
                acts = [act for act in plot.acts if act.agent == action.target and act.claim]
                assert any(act.claim in numbers for act in acts)
        if episode.rogue:
            caught.append(bool(episode.rogue_caught))
    assert 0 < mean(caught) < 0.5


def test_the_auditor_reads_what_the_heuristic_counts() -> None:
    """Without a charter that it can read, it knows no more than the heuristic."""
    known = reward(episodes("auditor")) - reward(episodes("heuristic"))
    unknown = reward(episodes("auditor", "ood_wording")) - reward(
        episodes("heuristic", "ood_wording")
    )
    assert known > 5
    assert unknown < known


def test_where_the_page_is_not_certain_remedies_are_tried_one_after_another() -> None:
    for episode in episodes("auditor", "ood_wording", count=12):
        acts = [turn.decision.action for turn in episode.turns if turn.role is Role.DEV]
        tried = [action for action in acts if action != Noop()]
        wrong = [turn.decision.action for turn in episode.turns if turn.events.wrong_fix]
        assert tried
        assert len(set(wrong)) >= len(wrong) // 2


def test_after_a_right_flag_nobody_else_is_flagged() -> None:
    for episode in episodes("auditor"):
        flags = [t for t in episode.turns if isinstance(t.decision.action, FlagRogue)]
        caught = [i for i, turn in enumerate(flags) if turn.events.rogue_flagged]
        assert not caught or caught[0] == len(flags) - 1


def test_keyword_solves_few_hard_incidents() -> None:
    assert mean(episode.resolved for episode in episodes("keyword", count=60)) <= 0.25


@pytest.mark.parametrize("failure", ["cascade", "rogue_deploy_bot"])
def test_without_documents_the_auditor_plays_the_heuristic(failure: str) -> None:
    scenario = make_scenario(failure, seed=3)
    ours, theirs = (play(scenario, Team.of(load_policy(name))) for name in ("auditor", "heuristic"))
    assert [turn.decision.action for turn in ours.turns] == [
        turn.decision.action for turn in theirs.turns
    ]


def test_the_auditor_stands_in_the_default_list() -> None:
    assert default_policies("arena")[-2:] == ["auditor", "oracle"]
    assert "auditor" not in default_policies("classic")
