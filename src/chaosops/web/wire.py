"""Frames as JSON for the page. Of a list that grows, only the change is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import asdict
from typing import Any

from chaosops.core.actions import VERBS, Action, Communicate, FlagRogue, Remedy, to_wire
from chaosops.core.episode import Episode, Turn
from chaosops.core.printable import printable
from chaosops.core.rules import Rulebook
from chaosops.core.vocabulary import Role
from chaosops.report.acts import act_words, for_people
from chaosops.report.frames import Frame
from chaosops.report.suspects import Suspect, suspects
from chaosops.report.tables import MODEL_FIELDS, by_roles
from chaosops.report.transcript import outcome_words
from chaosops.report.wording import Wordings, worded_action, worded_view
from chaosops.roles.layout import Selection
from chaosops.roles.layouts import layout_of
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
        "outcome": None if frame.outcome is None else _outcome(frame.outcome, frame.explanation),
        "relevant": selection_to_wire(frame.relevant),
    }


def selection_to_wire(found: Selection) -> dict[str, Any]:
    """Which pages, clauses and acts belong to what fails now, by their names."""
    return {
        "pages": [page.name for page in found.pages],
        "agents": [clauses.agent for clauses in found.clauses],
        "acts": [act.id for act in found.acts],
    }


def rules_to_wire(rules: Rulebook, wordings: Wordings) -> dict[str, Any]:
    """The rules as people read them. The page makes no labels."""
    wire = {**views.rules_to_wire(rules)}
    wire.pop("menus", None)
    return {**wire, "causes": [wordings.get(name, name) for name in rules.causes]}


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


def menu_to_wire(view: RoleView, wordings: Wordings) -> list[dict[str, Any]]:
    """The legal actions of a role by verb. A message has no choices and comes last."""
    rules, role = view.rules, view.role
    groups = []
    for verb, actions in zip(rules.verbs[role], rules.menu(role), strict=True):
        if verb == FlagRogue.verb and layout_of(rules).in_sight is not None:
            groups.append(_flags(view))
        elif actions:
            worded = [worded_action(action, wordings) for action in actions]
            groups.append(_group(VERBS[verb], () if verb == Communicate.verb else worded))
    return sorted(groups, key=lambda group: bool(group["verb"] == Communicate.verb))


def _flags(view: RoleView) -> dict[str, Any]:
    """A flag names an act: those in sight first, then the others, the latest first."""
    in_sight = layout_of(view.rules).in_sight
    near = list(in_sight(view)) if in_sight else []
    others = [act for act in reversed(view.trace) if act not in near]
    choices = [
        {
            "words": f"{act.agent}, {act_words(act)}",
            "move": to_wire(FlagRogue(act.agent, evidence=act.id)),
            "near": act in near,
        }
        for act in (*near, *others)
    ]
    return {**_group(FlagRogue, ()), "choices": choices, "acts": True}


def view_to_wire(
    view: RoleView, on_turn: Role, wordings: Wordings, sighted: Set[int] = frozenset()
) -> dict[str, Any]:
    """What a visitor in this role sees. ``sighted`` are the acts that were in sight earlier."""
    select = layout_of(view.rules).relevant
    found = select(view) if select else Selection()
    wire = {
        "kind": "view",
        "on_turn": on_turn.value,
        **cleaned(views.view_to_wire(worded_view(view, wordings))),
        "relevant": selection_to_wire(found),
    }
    if view.rules.charter:
        wire["suspects"] = [suspect_to_wire(suspect) for suspect in suspects(view, sighted)]
    return wire


def suspect_to_wire(suspect: Suspect) -> dict[str, Any]:
    largest = suspect.largest
    acts = [
        {
            **act._asdict(),
            "claimed": None if act.claimed is None else act.claimed._asdict(),
            "signed": None if act.signed is None else act.signed._asdict(),
        }
        for act in suspect.acts
    ]
    return {
        **suspect._asdict(),
        "acts": acts,
        "largest_pct": None if largest is None else largest.largest_pct,
        "excess_pct": suspect.excess_pct,
    }


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


def _outcome(episode: Episode, explanation: Sequence[str]) -> dict[str, Any]:
    names = ("resolved", "steps", "cause", "rogue", "rogue_caught")
    told = {name: getattr(episode, name) for name in names}
    return {**told, "explanation": [for_people(line) for line in explanation]}


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


def cleaned(value: Any) -> Any:
    """Replace control characters: models write into the chat."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {name: cleaned(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item) for item in value]
    return value


_GROWING: Mapping[str, Callable[[Any], Any]] = {
    "logs": lambda line: line._asdict(),
    "trace": lambda entry: entry._asdict(),
    "chat": lambda message: cleaned(message_to_wire(message)),
    "findings": finding_to_wire,
}
