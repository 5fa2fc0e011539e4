"""The way to the terminal. Everything that a command prints goes through here.

Text of others (a recording, a model, a server, a name in a file) must not steer the terminal,
and a terminal that knows ASCII alone must not end a command. So the commands print with this
module's ``print`` and draw on its ``open_console``; a test keeps them from other ways.
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
    """As the builtin, but no character of the text is a command to the terminal."""
    text = " ".join(map(str, values))
    builtins.print(printable(text), end=end, file=file, flush=flush)


def note(line: str) -> None:
    """To stderr: stdout is the result."""
    print(line, file=sys.stderr, flush=True)


def print_result(value: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """The result as data or in words."""
    print(json.dumps(value, indent=1) if as_json else "\n".join(lines))


def open_console(*, stderr: bool = False) -> Console:
    """Styles and movements are Rich's own; the text between them is printed as it reads."""
    from rich.console import Console  # --help must not pay for it

    class PrintableConsole(Console):
        def _render_buffer(self, buffer: Iterable[Segment]) -> str:
            return super()._render_buffer(
                segment if segment.control else segment._replace(text=printable(segment.text))
                for segment in buffer
            )

    return PrintableConsole(stderr=stderr)


def prepare_streams() -> None:
    """What the terminal cannot show is spelled in ASCII; what it sends is read in any case."""
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
