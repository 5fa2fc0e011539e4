"""The rehearsal: its faults are those of the live company, and its policies those of the arena."""

from __future__ import annotations

import pytest

from chaosops import load_pack, make_scenario, play
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Tier
from chaosops.live.faults import load_faults
from chaosops.packs import require_trainable
from chaosops.packs.arena.mechanisms import MECHANISMS
from chaosops.packs.rehearsal.incidents import write_incident
from chaosops.packs.rehearsal.mechanisms import PLACED
from chaosops.packs.rehearsal.scenery import FixedScenery
from chaosops.rollout import Team


def test_its_faults_are_those_of_the_live_company() -> None:
    assert set(PLACED) == set(MECHANISMS)
    for name, fault in load_faults().items():
        placed = PLACED[name]
        assert set(placed.services) <= set(fault.services), name
        told = (placed.setting, placed.harmful, placed.usual, placed.remedy.verb, placed.logs)
        assert told == (fault.setting, fault.harmful, fault.usual, fault.remedy, fault.logs)


def test_every_service_has_two_faults_that_can_take_each_others_place() -> None:
    drawn = {
        (incident.company.services[incident.plot.target], incident.cause)
        for tier in Tier
        for seed in range(300)
        for incident in (write_incident(tier, seed),)
    }
    assert drawn == {(one, name) for name, placed in PLACED.items() for one in placed.services}


def test_routine_goes_on_from_where_it_was() -> None:
    scenery = write_incident(Tier.HARD, 5).scenery
    assert isinstance(scenery, FixedScenery)
    values: dict[tuple[str, str], str] = {}
    for entry in (*scenery.history, *(e for step in range(1, 33) for e in scenery.routine(step))):
        key = entry.target, entry.action
        if entry.step > 0:
            assert values.get(key, entry.before) == entry.before
        values[key] = entry.after


def test_who_was_trained_on_the_arena_plays_it() -> None:
    team = Team.of("heuristic")
    team._trained_on = {"a model": {"arena": load_pack("arena").version}}
    team.require_trained_on("rehearsal")
    team.require_trained_on("live")
    team._trained_on = {"a model": {"classic": "1"}}
    with pytest.raises(BadInput, match="was trained on classic"):
        team.require_trained_on("rehearsal")


def test_it_is_for_evaluation() -> None:
    with pytest.raises(BadInput, match="must not be trained on"):
        require_trainable("fixed")
    assert play(make_scenario(split="fixed", seed=1), "oracle").resolved
