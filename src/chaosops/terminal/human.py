"""A human policy: a person at the keyboard plays one role."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chaosops.core.actions import VERBS, Action, Communicate, Unreadable
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput
from chaosops.roles.parse import parse, parse_object
from chaosops.roles.prompt import user_prompt
from chaosops.roles.view import RoleView

_SAY = "say something"
_LONG = 9  # a verb with more targets is one entry of the menu, and the target is asked for


class HumanPolicy:
    """Shows the view of the role, then asks until the answer is an action."""

    name = "you"
    sees_truth = False

    def __init__(self, ask: Callable[[str], str], tell: Callable[[str], None]) -> None:
        self._ask = ask
        self._tell = tell

    def decide(self, requests: Sequence[Any]) -> list[Decision]:
        return [Decision(self._choose(request.view)) for request in requests]

    def status(self) -> Mapping[str, Any]:
        return {"kind": "human"}

    def _choose(self, view: RoleView) -> Action:
        menu = _menu(view)
        self._tell(f"── {view.role.value.upper()}, your turn ──")
        self._tell(user_prompt(view) + "\n")
        self._show(menu)
        while True:
            try:
                answer = self._ask("> ").strip()
            except EOFError:
                raise BadInput(
                    "the input ended before the episode; chaosops play needs a keyboard, "
                    "chaosops run does not"
                ) from None
            if answer == "help":
                self._show(menu)
                continue
            action = self._read(answer, menu)
            if not isinstance(action, Unreadable):
                return action
            self._tell(f"not an action ({action.error}): {action.detail}")

    def _read(self, answer: str, menu: Sequence[Action | str]) -> Action:
        """Read a number of the menu, the words of an entry, or JSON."""
        if answer.isdecimal():
            number = int(answer[:6])
            if not 1 <= number <= len(menu):
                return Unreadable("unknown_number", f"choose 1 to {len(menu)}")
            chosen = menu[number - 1]
        else:
            named = [choice for choice in menu if str(choice) == answer]
            if not named:
                return parse(answer)
            chosen = named[0]
        if not isinstance(chosen, str):
            return chosen
        if chosen == _SAY:
            return Communicate(self._ask("message: "))
        verb = chosen.removesuffix(" …")
        reply: dict[str, object] = {"action": verb}
        for argument in VERBS[verb].arguments:
            if argument.required:
                is_name = argument.type == "string"
                said = self._ask("which? " if is_name else f"{argument.name}: ").strip()
                is_number = not is_name and said.isdecimal()
                reply[argument.name] = int(said[:6]) if is_number else said
        return parse_object(reply)

    def _show(self, menu: Sequence[Action | str]) -> None:
        cells = [f"{i:>3} {choice}" for i, choice in enumerate(menu, 1)]
        width = max(map(len, cells)) + 2
        columns = max(1, 100 // width)
        for first in range(0, len(cells), columns):
            row = "".join(cell.ljust(width) for cell in cells[first : first + columns])
            self._tell(row.rstrip())


def _menu(view: RoleView) -> list[Action | str]:
    """The legal actions. An action with many choices is one entry."""
    choices: list[Action | str] = []
    rules, role = view.rules, view.role
    for verb, group in zip(rules.verbs[role], rules.menu(role), strict=True):
        if verb == Communicate.verb:
            choices.append(_SAY)
        elif VERBS[verb].names("count") or len(group) > _LONG:
            choices.append(f"{verb} …")
        else:
            choices += group
    return choices
