"""The command line, read by Cyclopts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import BoundArguments
from typing import Any

from cyclopts import App, CoercionError, CycloptsError, Group, MissingArgumentError, Parameter
from cyclopts.exceptions import UnknownCommandError, UnusedCliTokensError

from chaosops.cli.commands import COMMANDS, DESCRIPTION, PARENTS
from chaosops.core.errors import BadInput, ChaosOpsError, UnknownName
from chaosops.core.printable import short
from chaosops.core.retired import retired_name
from chaosops.version import VERSION


def _shown_default(value: Any) -> str | None:
    """Help leaves out the defaults of flags and lists, which are off and empty."""
    if value is None or value is False or value in ((), ""):
        return None
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _app(name: str, text: str, **settings: Any) -> App:
    return App(
        name=name,
        help=text,
        help_format="plaintext",  # the default loads a Markdown parser
        default_parameter=Parameter(
            negative=(), allow_repeating=True, show_default=_shown_default, show_env_var=False
        ),
        **settings,
    )


def build_app() -> App:
    app = _app("chaosops", DESCRIPTION, version=f"chaosops {VERSION}")
    parents = {"": app}
    for number, (title, commands) in enumerate(COMMANDS.items()):
        group = Group(title, sort_key=number)
        for place, (name, text) in enumerate(commands.items()):
            parent, _, word = name.rpartition(" ")
            path = f"{parent}:{word}" if parent else f"{name}:execute"
            if parent not in parents:
                parents[parent] = _app(parent, PARENTS[parent], group=group, sort_key=place)
                app.command(parents[parent])
            shown: dict[str, Any] = {"help": text, "sort_key": place}
            if not parent:
                shown["group"] = group
            parents[parent].command(f"chaosops.cli.commands.{path}", name=word, **shown)
    app.command(
        "chaosops.cli.commands.completion:execute",
        name="--install-completion",
        help="Set up completion for your shell and exit.",
    )
    return app


def parse(words: Sequence[str]) -> tuple[Callable[..., int | None], BoundArguments, dict[str, Any]]:
    """The function to call, its arguments, and the parameters that no option sets."""
    app = build_app()
    try:
        command, bound, injected = app.parse_args(words, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        raise _in_our_words(error) from None
    if command.__name__ == "help_print" and not {"--help", "-h"} & set(words):
        names = ", ".join(_names(app.parse_commands(words)[1][-1]))
        raise BadInput(f"required: COMMAND, one of {names}")
    return command, bound, injected


def _names(app: App) -> list[str]:
    return [name for name in app if not name.startswith("-")]


def _in_our_words(error: CycloptsError) -> ChaosOpsError:
    """An error in one line. Cyclopts would draw a box, and import every command for an unknown
    name."""
    error.verbose = False
    argument = error.argument
    see = f"(see {' '.join(['chaosops', *(error.command_chain or ())])} --help)"
    match error:
        case UnknownCommandError(unused_tokens=[given, *_], app=App() as app):
            return UnknownName("command", given, _names(app))
        case UnusedCliTokensError(unused_tokens=[given, *_]):
            return BadInput(f"unexpected argument {short(given)} {see}")
        case CoercionError(token=token) if (
            token and argument and (names := argument.get_choices(force=True))
        ):
            kind = argument.name.lstrip("-").lower()
            if kind == "pack" and (told := retired_name(token.value)):
                return BadInput(f"pack {token.value} is {told}")
            return UnknownName(kind, token.value, names)
        case MissingArgumentError() if argument and not argument.tokens and not error.keyword:
            return BadInput(f"required: {argument.name} {see}")
    text = str(error)
    return BadInput(f"{text[:1].lower()}{text[1:].rstrip('.')} {see}")
