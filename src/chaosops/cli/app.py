"""Every command of ``chaosops``: its name and what it does.

The file of a command is named after it. It holds the command's options, and it is imported only
when the command runs, so that ``chaosops --help`` stays fast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import BoundArguments
from typing import Any

from cyclopts import App, CoercionError, CycloptsError, Group, MissingArgumentError, Parameter
from cyclopts.exceptions import UnknownCommandError, UnusedCliTokensError

from chaosops.core.errors import BadInput, ChaosOpsError, UnknownName
from chaosops.version import VERSION

_DESCRIPTION = (
    "Train and test AI teams that run production, and the overseer that notices when another "
    "AI agent caused the incident."
)
COMMANDS = {
    "Play": {
        "demo": "random against trained on one incident, then the comparison table",
        "run": "play one episode and print its transcript",
        "watch": "watch an episode live",
        "play": "take one role yourself, at the keyboard",
        "replay": "play a recorded episode again, without policies",
        "list": "list packs, scenarios, splits, tiers, policies and recipes",
    },
    "Measure": {
        "eval": "play policies x failures x tiers x seeds",
        "verify": "play an evaluation's decisions again and name what was changed",
        "recount": "compute an evaluation's figures again, without policies",
        "check": "check every failure's contract and the reward's integrity",
        "conformance": "replay recorded episodes and compare them step by step",
        "bench": "measure the speed of the world, or of a model",
        "arena show": "draw a generated company and its incident",
        "arena leaks": "test what words and counts alone tell about a rogue (takes minutes)",
        "arena investigate": "test whether unlimited looking tells who did it (it must)",
    },
    "Train": {
        "train": "train an adapter by a recipe",
        "weights": "fetch the embedded model, SmolLM2-135M (98 MB), once",
        "jobs launch": "start a job for each recipe; follow them with: hf jobs",
        "publish": "write a run's model card, and push the run",
    },
    "Serve": {
        "serve": "serve episodes over OpenEnv, tables and the page",
        "table": "open a table for four players on a server",
        "seat": "play one role of a table",
        "secret": "make the secret of a private split",
        "submission open": "let somebody be measured; prints the token",
        "submission close": "give up what was not played and write the results",
        "submit": "play a submission on a server in evaluation mode",
    },
}
PARENTS = {
    "arena": "look into the arena pack",
    "jobs": "train on Hugging Face Jobs",
    "submission": "let somebody play a private split",
}


def _shown_default(value: Any) -> str | None:
    """Flags and lists are off and empty by default; help need not say so for each of them."""
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
    app = _app("chaosops", _DESCRIPTION, version=f"chaosops {VERSION}")
    parents = {"": app}
    for number, (title, commands) in enumerate(COMMANDS.items()):
        group = Group(title, sort_key=number)
        for place, (name, text) in enumerate(commands.items()):
            parent, _, word = name.rpartition(" ")
            if parent not in parents:
                parents[parent] = _app(parent, PARENTS[parent], group=group, sort_key=place)
                app.command(parents[parent])
            path = f"chaosops.cli.commands.{name.replace(' ', '_')}:execute"
            shown: dict[str, Any] = {"help": text, "sort_key": place}
            if not parent:
                shown["group"] = group
            parents[parent].command(path, name=word, **shown)
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
    """One line. Cyclopts' own message is a box, and an unknown command imports every command."""
    error.verbose = False
    argument = error.argument
    see = f"(see {' '.join(['chaosops', *(error.command_chain or ())])} --help)"
    match error:
        case UnknownCommandError(unused_tokens=[given, *_], app=App() as app):
            return UnknownName("command", given, _names(app))
        case UnusedCliTokensError(unused_tokens=[given, *_]):
            return BadInput(f"unexpected argument {given!r:.60} {see}")
        case CoercionError(token=token) if token and argument and (names := argument.get_choices()):
            return UnknownName(argument.name.lstrip("-").lower(), token.value, names)
        case MissingArgumentError() if argument and not argument.tokens and not error.keyword:
            return BadInput(f"required: {argument.name} {see}")
    text = str(error)
    return BadInput(f"{text[:1].lower()}{text[1:].rstrip('.')} {see}")
