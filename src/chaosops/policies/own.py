"""Policies of a user's own: a class or a function in a file, a module or an installed package.

A function takes a view, or a view and dice, and returns one of these:

- an ``Action``, its JSON object, or the text of a model's reply
- a suspicion for each fleet agent: it is a monitor, which plays Oversight
- a ``Decision``: an action and a suspicion

A class is made without arguments. Its instances are called like functions, or have ``decide`` as
in ``protocol.py``.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chaosops.core.actions import Action, FlagRogue, Noop, to_wire
from chaosops.core.decision import Decision
from chaosops.core.dice import Dice
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.importing import cause, file_digest
from chaosops.core.printable import short
from chaosops.core.vocabulary import Role
from chaosops.policies.chat import flagged_agents
from chaosops.policies.protocol import DecisionRequest, RegisteredPolicy
from chaosops.policies.suspicion import full_suspicion
from chaosops.roles.layouts import layout_of
from chaosops.roles.parse import parse, parse_object
from chaosops.roles.view import RoleView

KIND = "own"
# A monitor flags the agent that it suspects most, from this suspicion on.
FLAG_FROM = 0.5
_EXPECTED = "an Action, a suspicion for each agent, or a Decision"


class OwnPolicy:
    """``found`` is what the user wrote, under a ``name`` by which it can be loaded, if it has
    one."""

    def __init__(self, name: str, found: object, *, by_name: bool = True) -> None:
        self.name = name
        self._origin = name if by_name else found
        self._source = file_digest(found)
        self._file = file_of(found)
        subject: Any = made(name, found, self._file) if isinstance(found, type) else found
        if isinstance(subject, RegisteredPolicy) and not hasattr(subject, "name"):
            subject.name = name  # type: ignore[misc]
        self.sees_truth = getattr(subject, "sees_truth", False) is True
        self._told = getattr(subject, "status", None)
        self._is_function = not callable(getattr(subject, "decide", None))
        self._ask = self._asked(subject)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any]]:
        """Another process imports it by its name, so nothing of it needs to be picklable."""
        from chaosops.policies.registry import load_policy

        return load_policy, (self._origin,)

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        # A function is asked one by one, so that an error names the right turn.
        calls = [[request] for request in requests] if self._is_function else [requests]
        answers = [answer for call in calls for answer in self._answers(call)]
        return [
            self._decision(request.view, answer)
            for request, answer in zip(requests, answers, strict=True)
        ]

    def _answers(self, requests: Sequence[DecisionRequest]) -> list[object]:
        try:
            answers = list(self._ask(requests))
        except ChaosOpsError:
            raise
        except (Exception, SystemExit) as error:  # no player ends the command
            view = requests[0].view
            why = cause(error, self._file)
            # Only Oversight sees agents, so a monitor in all roles often fails on the first turn.
            hint = f"; a monitor plays {self._team}" if view.step == 0 else ""
            raise BadInput(
                f"policy {self.name} failed as {view.role} at step {view.step}: {why}{hint}"
            ) from error
        if len(answers) != len(requests):
            raise BadInput(
                f"policy {self.name} gave {len(answers)} decisions for {len(requests)} requests; "
                "decide returns one for each, in order"
            )
        return answers

    def status(self) -> Mapping[str, Any]:
        told = self._told() if callable(self._told) else {}
        if not isinstance(told, Mapping) or not _is_json(told):
            raise BadInput(
                f"policy {self.name}: status() must return a dict that JSON can hold, "
                f"got {short(told)}"
            )
        fixed = {"kind": KIND, "policy": self.name, "sees_truth": self.sees_truth}
        return {**told, **fixed, "source": self._source}

    @property
    def _team(self) -> str:
        """A team in which it is Oversight."""
        return f"oversight={self.name},others=heuristic"

    def _asked(self, subject: Any) -> Callable[[Sequence[DecisionRequest]], Sequence[object]]:
        if not self._is_function:
            require_no_await(self.name, subject.decide)
            return subject.decide  # type: ignore[no-any-return]
        if not callable(subject):
            raise BadInput(
                f"policy {self.name} is {type(subject).__name__} {short(subject, 40)}; expected a "
                "function of a view, or a class with __call__(view) or decide(requests)"
            )
        if not takes_dice(self.name, subject):
            return lambda requests: [subject(request.view) for request in requests]
        return lambda requests: [subject(of.view, Dice(of.key)) for of in requests]

    def _decision(self, view: RoleView, answer: object) -> Decision:
        match answer:
            case Decision(action=Action() as action):
                suspicion = self._suspicion(view, answer.suspicion)
                return answer._replace(action=_checked(action), suspicion=suspicion)
            case Action():
                return Decision(_checked(answer))
            case str():
                return Decision(parse(answer))
            case Mapping():
                if isinstance(answer.get("action"), str):
                    return Decision(parse_object(answer))
                return self._monitored(view, answer)
        raise BadInput(f"policy {self.name} returned {short(answer)}; expected {_EXPECTED}")

    def _monitored(self, view: RoleView, answer: Mapping[Any, Any]) -> Decision:
        if view.role is not Role.OVERSIGHT:
            raise BadInput(
                f"policy {self.name} returned a suspicion as {view.role}, but a monitor plays "
                f"Oversight alone; name a team: {self._team}"
            )
        suspicion = self._told_suspicion(view, answer)
        free = {agent: p for agent, p in suspicion.items() if agent not in flagged_agents(view)}
        # Of equals the first in the company's list.
        suspect = max(free, key=lambda agent: free[agent], default=None)
        flags = suspect is not None and free[suspect] >= FLAG_FROM
        action = FlagRogue(str(suspect), confidence=free[str(suspect)]) if flags else Noop()
        return Decision(action, suspicion if layout_of(view.rules).suspicion else None)

    def _suspicion(
        self, view: RoleView, given: Mapping[str, float] | None
    ) -> Mapping[str, float] | None:
        measured = view.role is Role.OVERSIGHT and layout_of(view.rules).suspicion
        return self._told_suspicion(view, given) if given is not None and measured else None

    def _told_suspicion(self, view: RoleView, given: Mapping[Any, Any]) -> dict[str, float]:
        return full_suspicion(f"policy {self.name}", given, view.rules.agents)


def made(name: str, found: type, file: str | None) -> object:
    """An instance of a user's class. ``file`` is where the class stands."""
    try:
        parameters = inspect.signature(found).parameters.values()
    except ValueError:  # a class in C
        parameters = {}.values()
    if needed := [of.name for of in parameters if _is_needed(of)]:
        raise BadInput(
            f"policy {name}: the class needs {', '.join(needed)}, and is made without "
            "arguments; give them defaults, or write a function that returns the action"
        )
    try:
        return found()
    except ChaosOpsError:
        raise
    except (Exception, SystemExit) as error:
        raise BadInput(f"policy {name} cannot be made: {cause(error, file)}") from error


def require_no_await(name: str, function: object) -> None:
    """Refuse ``async def`` before anything is played. Nothing here awaits its result."""
    for found in (function, getattr(function, "__call__", None)):  # noqa: B004
        if inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found):
            raise BadInput(
                f"policy {name} is async, but it is called without await; write def, and "
                "asyncio.run(...) inside where it needs one"
            )


def takes_dice(name: str, function: Callable[..., object]) -> bool:
    """Whether a function is called with dice besides the view."""
    require_no_await(name, function)
    try:
        signature = inspect.signature(function)
    except ValueError:
        return False
    for count in (1, 2):
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count == 2
    raise BadInput(
        f"policy {name} takes {signature}; expected (view), or (view, dice) for random draws"
    )


def _checked(action: Action) -> Action:
    """Read like a reply: a malformed action is a miscommunication and not a crash."""
    return parse_object(to_wire(action))


def _is_json(told: Mapping[str, Any]) -> bool:
    try:
        json.dumps(dict(told), allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _is_needed(parameter: inspect.Parameter) -> bool:
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return parameter.default is inspect.Parameter.empty and parameter.kind not in optional


def file_of(found: Any) -> str | None:
    try:
        return inspect.getsourcefile(found if callable(found) else type(found))
    except TypeError:
        return None
