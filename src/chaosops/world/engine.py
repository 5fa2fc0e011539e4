"""How one action changes a world, and what is judged to have happened.

Worlds are immutable values. A fork is another reference to the same world, any number of
episodes can advance side by side, and an episode can go on from any earlier world.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import NamedTuple

from chaosops.core.actions import (
    Action,
    Communicate,
    FlagRogue,
    IdentifyRootCause,
    Noop,
    Talk,
    Unreadable,
    to_wire,
)
from chaosops.core.errors import BadInput
from chaosops.core.events import Events
from chaosops.core.rules import Rulebook
from chaosops.core.scenario import Scenario
from chaosops.core.telemetry import WORLD, Message, Public
from chaosops.core.vocabulary import Role
from chaosops.world.incident import Incident, Pack, State
from chaosops.world.real_time import require_permitted

_ROLES = frozenset(Role)
_NOTHING = Noop()


class Truth(NamedTuple):
    """The half of a world that no view may show."""

    scenario: Scenario
    incident: Incident
    state: State
    flagged: tuple[str, ...] = ()
    cause_named: bool = False
    rogue_caught: bool = False
    over: bool = False


class World(NamedTuple):
    public: Public
    truth: Truth

    def digest(self) -> str:
        """Equal for equal worlds, in every process and on every machine."""
        public, truth = self
        journal = [(m.step, m.sender, to_wire(m.action)) for m in public.journal]
        judged = (truth.flagged, truth.cause_named, truth.rogue_caught, truth.over)
        content = (truth.scenario.to_wire(), public.step, truth.state, judged, journal)
        return blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()


def start(pack: Pack, scenario: Scenario) -> World:
    if scenario.seed < 0:
        raise BadInput(f"seed must be 0 or more, got {scenario.seed}")
    if scenario.limit < 1:
        raise BadInput(f"the step limit must be 1 or more, got {scenario.limit}")
    if pack.real_time:
        require_permitted(pack.name)
    rules, incident, state = pack.open(scenario)
    public = Public(rules, 0, scenario.limit, (), incident.sense(state, 0))
    return World(public, Truth(scenario, incident, state))


def step(world: World, role: Role, action: Action) -> tuple[World, Events]:
    """The world after ``role`` took ``action``, and the events to be scored."""
    (rules, count, limit, journal, _, findings), truth = world
    scenario, incident, state, flagged, cause_named, rogue_caught, over = truth
    if over:
        raise BadInput("the episode is over: start a new one before stepping again")
    count += 1
    wrong_fix = second_order = named_now = caught_now = false_flag = unknown_flag = False
    trouble = refusal(rules, role, action)
    if trouble is None and not isinstance(action, Talk):
        state, helps, second_order, trouble, finding = incident.act(state, action, count)
        wrong_fix = helps is False
        if finding is not None:
            findings = (*findings, finding)
    if trouble is not None:
        journal = (*journal, Message(count, WORLD, Communicate(trouble, to=role)))
        action = _NOTHING
    elif action.verb != "noop":
        if isinstance(action, FlagRogue):
            caught_now = action.target == incident.rogue and not rogue_caught
            unknown_flag = action.target not in rules.agents
            false_flag = action.target != incident.rogue and not unknown_flag
            if action.target not in flagged:
                flagged = (*flagged, action.target)
        elif isinstance(action, IdentifyRootCause):
            named_now = action.failure_type == incident.cause and not cause_named
        journal = (*journal, Message(count, role, action))
    state, resolved = incident.advance(state, action, flagged, count)
    out_of_time = not resolved and count >= limit
    over = resolved or out_of_time
    cause_named, rogue_caught = cause_named or named_now, rogue_caught or caught_now
    return World(
        Public(rules, count, limit, journal, incident.sense(state, count), findings),
        Truth(scenario, incident, state, flagged, cause_named, rogue_caught, over),
    ), Events(
        count,
        resolved,
        out_of_time,
        wrong_fix,
        second_order,
        named_now,
        caught_now,
        false_flag,
        trouble,
        unknown_flag,
        incident.trouble_steps(state, count),
    )


def refusal(rules: Rulebook, role: Role, action: Action) -> str | None:
    """Why the world refuses an action: the text of a miscommunication. None if it does not."""
    verb = action.verb
    if isinstance(action, Unreadable):
        return f"your reply could not be read ({action.error}): {action.detail}"
    if not rules.may(role, verb):
        allowed = ", ".join(rules.verbs[role])
        return f"{role} may not {verb}; {role} may: {allowed}"
    if isinstance(action, Communicate):
        if not action.message.strip():
            return "an empty message says nothing: write a message"
        if action.to is not None and action.to not in _ROLES:
            return f"no role {action.to!r} to talk to; roles: {', '.join(Role)}"
    elif isinstance(action, IdentifyRootCause) and action.failure_type not in rules.causes:
        return (
            f"no failure is called {action.failure_type[:60]!r}; "
            f"known failures: {', '.join(rules.causes)}"
        )
    return None
