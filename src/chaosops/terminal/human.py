"""A human policy: a person at the keyboard plays one role."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import Any

from chaosops.core.actions import VERBS, Action, Communicate, Noop, Unreadable
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.rules import Rulebook
from chaosops.core.vocabulary import Role
from chaosops.report.introduction import introduction
from chaosops.report.wording import meant_action, worded_action, worded_view
from chaosops.roles.layouts import layout_of
from chaosops.roles.parse import parse, parse_object
from chaosops.roles.prompt import user_prompt
from chaosops.roles.view import RoleView
from chaosops.terminal.commands import help_lines, hint, in_words, looks, read_command
from chaosops.terminal.company import WIDTH, screen

_SAY = "say something"
_LONG = 9  # a verb with more targets is one entry of the menu, and the target is asked for


class HumanPolicy:
    """Shows the view of the role, then asks until the answer is an action. ``wordings`` is what
    the person reads in place of the ids of failures."""

    name = "you"
    sees_truth = False

    def __init__(
        self,
        ask: Callable[[str], str],
        tell: Callable[[str], None],
        wordings: Mapping[str, str] | None = None,
    ) -> None:
        self._input = ask
        self._tell = tell
        self._wordings = wordings or {}
        self._news = ""

    def decide(self, requests: Sequence[Any]) -> list[Decision]:
        return [Decision(self._choose(request.view)) for request in requests]

    def begin(self, rules: Rulebook, role: Role, partners: str, *also: str) -> None:
        """What a person should know before the first turn."""
        if layout_of(rules).relevant is None:
            self._tell(
                "Pick an action by its number or its words, or write it as JSON; "
                "'help' lists them again.\n"
            )
            for text in also:
                self._tell(f"{text}\n")
        else:
            told = [*introduction(role, partners), *also]
            self._tell("\n" + "\n\n".join("\n".join(wrap(text, WIDTH)) for text in told) + "\n")
            self._ask("Enter begins. ")

    def hear(self, news: str) -> None:
        """What came of the latest turn."""
        self._news = f"· your last turn: {news} "
        self._tell(f"    {news}\n")

    def status(self) -> Mapping[str, Any]:
        return {"kind": "human"}

    def _ask(self, prompt: str) -> str:
        try:
            return self._input(prompt).strip()
        except EOFError:
            raise BadInput(
                "the input ended before the episode; chaosops play needs a keyboard, "
                "chaosops run does not"
            ) from None

    def _choose(self, view: RoleView) -> Action:
        if layout_of(view.rules).relevant is not None:
            return self._command(view)
        menu = _menu(view, self._wordings)
        view = worded_view(view, self._wordings)
        self._tell(f"── {view.role.value.upper()}, your turn ──")
        self._tell(user_prompt(view) + "\n")
        self._show(menu)
        while True:
            answer = self._ask("> ")
            if answer == "help":
                self._show(menu)
                continue
            action = meant_action(self._read(answer, menu), self._wordings)
            if not isinstance(action, Unreadable):
                return action
            self._tell(f"not an action ({action.error}): {action.detail}")

    def _command(self, view: RoleView) -> Action:
        """In a company with documents. What takes the turn is repeated before it is done."""
        shown = "\n".join([*screen(view, self._news), "", *hint(view)])
        self._tell(shown)
        pending: Action | None = None
        while True:
            answer = self._ask("> ")
            if pending is not None:
                if answer.lower() in ("", "y", "yes"):
                    return pending
                pending = None
                if answer.lower() in ("undo", "n", "no"):
                    self._tell("Taken back; nothing was done.")
                    continue
            try:
                lines, pending = _answered(answer, view)
            except ChaosOpsError as error:
                self._tell_wrapped(f"{error}.", "Nothing was done; help lists the commands.")
                continue
            if pending is None:
                self._tell("\n".join(lines) or shown)
            elif isinstance(pending, Noop) or answer.startswith("{"):
                return pending
            else:
                meant = f"You {in_words(pending, view)}."
                self._tell_wrapped(meant, "Enter does it, undo takes it back.")

    def _tell_wrapped(self, *paragraphs: str) -> None:
        self._tell("\n".join(line for text in paragraphs for line in wrap(text, WIDTH)))

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
                said = self._ask("which? " if is_name else f"{argument.name}: ")
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


def _answered(answer: str, view: RoleView) -> tuple[list[str], Action | None]:
    """What to show, or what to do."""
    word, _, rest = answer.partition(" ")
    if not answer:
        return [], None
    if word == "help":
        return help_lines(view), None
    if word == "undo":
        return ["There is nothing to take back."], None
    free = looks(view.role)
    if word in free:
        return free[word].show(view, rest.strip()) or ["  nothing yet"], None
    if not answer.startswith("{"):
        return [], read_command(answer, view)
    action = parse(answer)
    if isinstance(action, Unreadable):
        raise BadInput(f"not an action ({action.error}): {action.detail}")
    return [], action


def _menu(view: RoleView, wordings: Mapping[str, str]) -> list[Action | str]:
    """The legal actions. An action with many choices is one entry."""
    choices: list[Action | str] = []
    rules, role = view.rules, view.role
    for verb, group in zip(rules.verbs[role], rules.menu(role), strict=True):
        if verb == Communicate.verb:
            choices.append(_SAY)
        elif VERBS[verb].names("count") or len(group) > _LONG:
            choices.append(f"{verb} …")
        else:
            choices += [worded_action(action, wordings) for action in group]
    return choices
