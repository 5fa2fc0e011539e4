"""Frames as JSON for the page. Of a list that grows, only the change is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from chaosops.core.actions import VERBS, Action, Communicate, Remedy, to_wire
from chaosops.core.episode import Episode, Turn
from chaosops.core.printable import printable
from chaosops.core.rules import Rulebook
from chaosops.core.vocabulary import Role
from chaosops.report.frames import Frame
from chaosops.report.tables import MODEL_FIELDS, by_roles
from chaosops.report.transcript import outcome_words
from chaosops.roles.view import RoleView
from chaosops.wire import views
from chaosops.wire.views import finding_to_wire, message_to_wire, reading_to_wire


def frame_to_wire(frame: Frame, before: Frame | None = None) -> dict[str, Any]:
    """What a spectator sees after a turn. ``before`` is the frame that was sent last."""
    flag = frame.flag_now
    return {
        "kind": "frame",
        "step": frame.step,
        "on_turn": frame.on_turn.value,
        "readings": [reading_to_wire(reading) for reading in frame.readings],
        "alerts": [alert._asdict() for alert in frame.alerts],
        **{
            name: tail(getattr(before, name, ()), getattr(frame, name), write)
            for name, write in _GROWING.items()
        },
        "rubrics": dict(frame.rubrics),
        "reward": frame.reward,
        "wrong_fixes": frame.wrong_fixes,
        "flags": [asdict(flag) for flag in frame.flags],
        "flag": None if flag is None else asdict(flag),
        "turn": None if frame.turn is None else _turn(frame.turn),
        "outcome": None if frame.outcome is None else _outcome(frame.outcome),
    }


def tail(
    old: Sequence[Any], new: Sequence[Any], write: Callable[[Any], Any] = lambda item: item
) -> dict[str, Any]:
    """The change from ``old`` to ``new``: drop items at the front, add items at the end.

    >>> tail("abc", "bcd")
    {'drop': 1, 'add': ['d']}
    """
    for drop in range(len(old) + 1):
        kept = len(old) - drop
        if tuple(new[:kept]) == tuple(old[drop:]):
            break
    return {"drop": drop, "add": [write(item) for item in new[kept:]]}


def menu_to_wire(rules: Rulebook, role: Role) -> list[dict[str, Any]]:
    """The legal actions of a role by verb. A message has no choices and comes last."""
    groups = [
        _group(VERBS[verb], () if verb == Communicate.verb else actions)
        for verb, actions in zip(rules.verbs[role], rules.menu(role), strict=True)
        if actions
    ]
    return sorted(groups, key=lambda group: bool(group["verb"] == Communicate.verb))


def view_to_wire(view: RoleView, on_turn: Role) -> dict[str, Any]:
    """What a visitor in this role sees."""
    return {"kind": "view", "on_turn": on_turn.value, **_cleaned(views.view_to_wire(view))}


def status_words(status: Mapping[str, Any]) -> str:
    """What a policy is, in a few words beside its numbers.

    >>> status_words({"kind": "model", "model": "smollm2", "adapter": "first sha256:ab12"})
    'model smollm2 + first sha256:ab12'
    >>> status_words({"kind": "scripted", "sees_truth": True})
    'scripted, knows the truth'
    """
    if "kind" not in status:
        return "; ".join(
            f"{', '.join(roles)}: {status_words(of)}" for roles, of in by_roles(status)
        )
    words = str(status["kind"])
    if status.get("model"):
        words = f"model {status['model']}"
        if status.get("adapter"):
            words += f" + {status['adapter']}"
    return words + (", knows the truth" if status.get("sees_truth") else "")


def status_details(status: Mapping[str, Any]) -> dict[str, str]:
    """Weights, adapter and runtime of a model."""
    if "kind" not in status:
        return {}
    return {name: str(status[name]) for name in MODEL_FIELDS if status.get(name)}


def _outcome(episode: Episode) -> dict[str, Any]:
    names = ("resolved", "steps", "cause", "rogue", "rogue_caught")
    return {name: getattr(episode, name) for name in names}


def _turn(turn: Turn) -> dict[str, Any]:
    suspicion = turn.decision.suspicion
    return {
        "role": turn.role.value,
        "verb": turn.decision.action.verb,
        "words": printable(str(turn.decision.action)),
        "reward": turn.score.total,
        "rubrics": {name: value for name, value in turn.score.rubrics.items() if value},
        "came_of_it": outcome_words(turn),
        "suspicion": None if suspicion is None else dict(suspicion),
    }


def _group(kind: type[Action], actions: Sequence[Action]) -> dict[str, Any]:
    return {
        "verb": kind.verb,
        "title": kind.title,
        "remedy": issubclass(kind, Remedy),
        "choices": [{"words": action.words, "move": to_wire(action)} for action in actions],
    }


def _cleaned(value: Any) -> Any:
    """Replace control characters: models write into the chat."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {name: _cleaned(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value


_GROWING: Mapping[str, Callable[[Any], Any]] = {
    "logs": lambda line: line._asdict(),
    "trace": lambda entry: entry._asdict(),
    "chat": lambda message: _cleaned(message_to_wire(message)),
    "findings": finding_to_wire,
}
