"""A turn as JSON.

A turn has one form: ``step``, ``role``, the fields of its action, then what is known of it:
``suspicion``, what a model was asked and replied, ``events``, ``reward`` and ``rubrics``.
"""

from __future__ import annotations

from typing import Any

from chaosops.core.actions import to_wire
from chaosops.core.episode import Turn
from chaosops.core.errors import BadInput
from chaosops.wire.decisions import exchange_to_wire

# What a turn's form holds beside the fields of its action.
_TURN_FIELDS = frozenset(
    {
        *("step", "role", "suspicion", "events", "reward", "rubrics"),
        *("reply", "prompt_sha256", "tokens_read", "tokens_written", "corrections"),
    }
)


def turn_to_wire(turn: Turn) -> dict[str, Any]:
    """Enough to play the turn again and to count everything that is counted."""
    events = {
        name: value
        for name, value in turn.events._asdict().items()
        if value not in (False, None) and name != "step"
    }
    action, suspicion, exchange = turn.decision
    return {
        "step": turn.events.step,
        "role": turn.role.value,
        **to_wire(action),
        **({} if suspicion is None else {"suspicion": dict(suspicion)}),
        **({} if exchange is None else exchange_to_wire(exchange)),
        "events": events,
        "reward": turn.score.total,
        "rubrics": {name: value for name, value in turn.score.rubrics.items() if value},
    }


def scored_turn(turn: Turn) -> dict[str, Any]:
    """What OpenEnv's ``last_turn`` tells a trainer: the score with all its components."""
    score = turn.score
    return {
        "role": turn.role.value,
        "action": to_wire(turn.decision.action),
        "rubrics": dict(score.rubrics),
        "components": {name: dict(parts) for name, parts in score.components.items()},
        "miscommunication": turn.events.miscommunication,
    }


def decision_of_turn(turn: object) -> dict[str, Any]:
    """The recorded decision in a turn's form."""
    if not isinstance(turn, dict):
        raise BadInput("expected an object")
    decision = {"action": {name: turn[name] for name in turn if name not in _TURN_FIELDS}}
    if "suspicion" in turn:
        decision["suspicion"] = turn["suspicion"]
    if "reply" in turn or "prompt_sha256" in turn:
        decision["exchange"] = turn
    return decision
