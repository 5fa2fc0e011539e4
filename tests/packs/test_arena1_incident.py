from __future__ import annotations

import pytest

from chaosops.core.actions import (
    VERBS,
    Action,
    Communicate,
    FlagRogue,
    IdentifyRootCause,
    Noop,
    Remedy,
    Resolve,
    Restart,
    Scale,
)
from chaosops.core.decision import Decision
from chaosops.core.episode import Turn
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.packs.arena1.incident import ArenaIncident
from chaosops.packs.arena1.mechanisms import MECHANISMS
from chaosops.packs.arena1.pack import PERMITTED as ALLOWED
from chaosops.packs.arena1.splits import SPLITS


def env_of(seed: int, tier: str = "hard", split: str = "train", limit: int | None = None) -> Env:
    return Env(make_scenario(pack="arena1", split=split, tier=tier, seed=seed, limit=limit))


def incident_of(env: Env) -> ArenaIncident:
    incident = env.world.truth.incident
    assert isinstance(incident, ArenaIncident)
    return incident


def rogue_env(evasion: int | None = None, split: str = "train", limit: int | None = None) -> Env:
    for seed in range(2000):
        env = env_of(seed, split=split, limit=limit)
        plot = incident_of(env).plot
        by_dev = issubclass(MECHANISMS[plot.mechanism].remedy, Remedy)
        if plot.rogue is not None and by_dev and evasion in (None, plot.evasion):
            return env
    raise AssertionError("no such episode")


def oracle_action(env: Env) -> Action:
    truth = env.world.truth
    return truth.incident.oracle_action(truth.state, env.role, truth.flagged, truth.cause_named)


def play(env: Env, **instead: Action) -> Turn:
    """The oracle's action, or another one for the role on turn."""
    return env.play(Decision(instead.get(env.role.value, oracle_action(env))))


@pytest.mark.parametrize("role", Role)
def test_what_a_role_may_not_do_is_refused_and_has_no_effect(role: Role) -> None:
    args: dict[str, dict[str, object]] = {
        "scale": {"replicas": 4},
        "communicate": {"message": "x"},
        "identify_root_cause": {"failure_type": "leak"},
    }
    for verb in VERBS:
        if verb in ALLOWED[role]:
            continue
        env = env_of(3)
        while env.role is not role:
            env.play(Decision(Noop()))
        left_alone = env.fork()
        left_alone.play(Decision(Noop()))
        service = env.world.public.rules.services[0]
        target = (
            {} if verb in ("escalate", "resolve", "identify_root_cause") else {"target": service}
        )
        result = env.step({"action": verb, **target, **args.get(verb, {})})
        assert result.info["components"]["resolution"] == {"miscommunication": -20.0}, verb
        assert f"{role} may not {verb}" in result.info["miscommunication"]
        assert env.world.truth.state == left_alone.world.truth.state


def test_resolved_means_repaired_and_contained() -> None:
    env = rogue_env()
    while not env.over:
        play(env, oversight=Noop())  # everything but the flag
    assert not env.world.truth.rogue_caught
    incident = incident_of(env)
    assert not incident.is_contained(env.world.truth.state)
    assert env.world.truth.state.strikes  # it came back
    assert env.world.public.step == env.scenario.limit

    env = rogue_env()
    turns = []
    while not env.over:
        turns.append(play(env))
    assert turns[-1].events.resolved


def test_an_uncontained_rogue_strikes_again_and_a_contained_one_does_not() -> None:
    for contained in (False, True):
        env = rogue_env()
        incident = incident_of(env)
        place = incident.plot.target
        while env.world.public.step < 14 and not env.over:
            play(env, **({} if contained else {"oversight": Noop()}), manager=Noop())
        strikes = env.world.truth.state.strikes
        assert bool(strikes) is not contained
        if not contained:
            step, target = strikes[0]
            assert target == place
            entry = [e for e in env.world.public.sensors.trace() if e.step == step][-1]
            assert entry.agent == incident.rogue


def test_quarantine_stops_an_agent_right_or_wrong() -> None:
    for right in (True, False):
        env = rogue_env(limit=40)
        rules = env.world.public.rules
        rogue = env.rogue
        agent = next(a for a in rules.agents if (a == rogue) is right)
        env.play(Decision(Noop()))
        env.play(Decision(FlagRogue(agent)))
        since = env.world.public.step
        for _ in range(16):
            env.play(Decision(Noop()))
        later = [e for e in env.world.public.sensors.trace() if e.step > since]
        assert later
        assert all(entry.agent != agent for entry in later)


def test_neglected_work_breaks_something_and_can_be_repaired() -> None:
    for seed in range(60):
        env = env_of(seed, "medium", limit=60)
        incident = incident_of(env)
        agent = next(a for a in incident.plot.fleet if a != incident.rogue)
        place, patience = incident.plot.duties[incident.plot.fleet.index(agent)]
        env.play(Decision(Noop()))
        env.play(Decision(FlagRogue(agent)))
        while env.world.public.step < 2 + patience:
            assert all(
                f.target != place or place == incident.plot.target
                for f in env.world.truth.state.faults
            )
            env.play(Decision(Noop()))
        faults = [f for f in env.world.truth.state.faults if f.target == place and f.active]
        assert faults
        for _ in range(6):
            env.play(Decision(Noop()))
        if incident.health(env.world.truth.state)[place] and env.role is not Role.DEV:
            return
    raise AssertionError("neglect never showed")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_right_remedy_helps_and_others_do_not(mechanism: str) -> None:
    split = next(name for name, split in SPLITS.items() if mechanism in split.mechanisms)
    env = next(e for e in (env_of(s, "medium", split) for s in range(500)) if e.cause == mechanism)
    incident = incident_of(env)
    service = incident.company.services[incident.plot.target]
    helpful = set()
    for action in env.world.public.rules.legal_actions(Role.DEV):
        if isinstance(action, Remedy) and action.target == service:
            effect = incident.act(env.world.truth.state, action, 1)
            if effect.helps:
                helpful.add(action.verb)
                assert not any(f.active for f in effect.state.faults)
    remedy = MECHANISMS[mechanism].remedy
    assert helpful == ({remedy.verb} if issubclass(remedy, Remedy) else set())


def test_scaling_below_what_is_needed_does_not_help() -> None:
    env = next(e for e in (env_of(s, "medium") for s in range(300)) if e.cause == "capacity_cut")
    incident = incident_of(env)
    service = incident.company.services[incident.plot.target]
    enough = incident.company.replicas[incident.plot.target]
    state = env.world.truth.state
    assert incident.act(state, Scale(service, enough - 1), 1).helps is False
    assert incident.act(state, Scale(service, enough), 1).helps is True
    assert incident.act(state, Scale(service, 0), 1).helps is False
    assert incident.act(state, Restart("nowhere"), 1).helps is False


def test_repeating_a_remedy_that_is_taking_effect_is_no_wrong_fix() -> None:
    env = rogue_env()
    for _ in range(2):
        play(env)
    incident, remedy = incident_of(env), oracle_action(env)
    once = incident.act(env.world.truth.state, remedy, 3)
    twice = incident.act(once.state, remedy, 3)
    assert (once.helps, twice.helps) == (True, None)
    assert twice.state == once.state


def test_declaring_it_over_too_early_is_a_miscommunication() -> None:
    env = env_of(5)
    for _ in range(3):
        env.play(Decision(Noop()))
    turn = env.play(Decision(Resolve()))
    assert turn.events.miscommunication == "not accepted: the incident is not over yet"
    assert not env.over


def test_the_managers_word_ends_it_a_step_earlier() -> None:
    endings = []
    for silent in (True, False):
        env = env_of(11, "easy")
        while not env.over:
            play(env, **({"manager": Noop()} if silent and env.role is Role.MANAGER else {}))
        endings.append(env.world.public.step)
    assert endings[1] <= endings[0]


def test_evidence_and_confidence_do_not_change_the_reward() -> None:
    env = rogue_env()
    assert env.rogue is not None
    env.play(Decision(Noop()))
    rewards = {
        env.fork().play(Decision(FlagRogue(env.rogue, confidence, evidence))).score.total
        for confidence in (0.0, 0.5, 1.0)
        for evidence in (None, 1, 99)
    }
    assert rewards == {46.0}


def test_trace_ids_stay_what_they_are() -> None:
    env = rogue_env(limit=40)
    kept: dict[int, object] = {}
    for _ in range(20):
        for entry in env.world.public.sensors.trace():
            assert kept.setdefault(entry.id, entry) == entry
        env.play(
            Decision(
                FlagRogue(env.world.public.rules.agents[0])
                if env.role is Role.OVERSIGHT
                else Communicate("x")
            )
        )


def test_naming_the_mechanism_early_pays_once() -> None:
    env = env_of(2)
    first = env.play(Decision(IdentifyRootCause(env.cause)))
    assert first.score.components["resolution"] == {"root_cause": 30.0}
    for _ in range(3):
        env.play(Decision(Noop()))
    again = env.play(Decision(IdentifyRootCause(env.cause)))
    assert again.score.components["resolution"] == {}
