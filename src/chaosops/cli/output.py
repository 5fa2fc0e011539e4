"""Output to the terminal. Everything that a command prints goes through here.

Text from a recording, a model, a server or a file must not control the terminal, and a terminal
that shows only ASCII must not end a command. So commands print with this module's ``print`` and
draw on its ``open_console``. A test forbids anything else.
"""

from __future__ import annotations

import builtins
import codecs
import io
import json
import os
import sys
import unicodedata
from collections.abc import Iterable
from contextlib import AbstractContextManager, redirect_stdout
from typing import TYPE_CHECKING, Any, TextIO

from chaosops.core.printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.segment import Segment

_ERRORS = "chaosops.spelled"
_SPELLED = {
    "…": "...",
    "→": "->",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "·": "|",
    "\N{MULTIPLICATION SIGN}": "x",
    "●": "*",
    "▲": "!",
    "■": "#",
    "▸": ">",
    "─": "-",
    **dict(zip("▁▂▃▄▅▆▇█", "_.-=+*%#", strict=True)),
}


def print(
    *values: object, end: str = "\n", file: TextIO | None = None, flush: bool = False
) -> None:
    """Like the builtin, but control characters in the text are replaced."""
    text = " ".join(map(str, values))
    builtins.print(printable(text), end=end, file=file, flush=flush)


def note(line: str) -> None:
    """Print to stderr, because stdout is for the result."""
    print(line, file=sys.stderr, flush=True)


def prints_to_stderr() -> AbstractContextManager[object]:
    """While code of a user's own runs: what it prints must not stand among the result."""
    return redirect_stdout(sys.stderr)


def print_result(value: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Print the result as JSON or as text."""
    print(json.dumps(value, indent=1) if as_json else "\n".join(lines))


def open_console(*, stderr: bool = False) -> Console:
    """A Rich console. Rich styles the text; control characters in it are replaced."""
    from rich.console import Console  # slow to import, and --help does not need it

    class PrintableConsole(Console):
        def _render_buffer(self, buffer: Iterable[Segment]) -> str:
            return super()._render_buffer(
                segment if segment.control else segment._replace(text=printable(segment.text))
                for segment in buffer
            )

    return PrintableConsole(stderr=stderr)


def prepare_streams() -> None:
    """Spell characters that the terminal cannot show in ASCII, and accept input that cannot be
    decoded."""
    _open_closed_streams()
    wanted = ((sys.stdout, _ERRORS), (sys.stderr, _ERRORS), (sys.stdin, "replace"))
    for stream, errors in wanted:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def _open_closed_streams() -> None:
    """Open ``os.devnull`` for each stream that the caller closed (``>&-``). Otherwise printing
    fails, and the next file or socket gets the stream's number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_spell, error.object[error.start : error.end])), error.end


def _spell(char: str) -> str:
    """
    >>> _spell("→"), _spell("é"), _spell("🙂")
    ('->', 'e', '?')
    """
    if char in _SPELLED:
        return _SPELLED[char]
    return unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode() or "?"


codecs.register_error(_ERRORS, _spelled)
