"""Text from models, peers and files, made safe to show."""

from __future__ import annotations

import re

# Control characters except tab and newline, lone surrogates, unusual line separators, and marks
# that are invisible or change the direction of text.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Replace what could control a terminal or break a file.

    >>> printable("red \\x1b[31m, half a \\ud83d, one\\ttab")
    'red \\ufffd[31m, half a \\ufffd, one\\ttab'
    """
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The same on one line, for places where a line break would look like another line.

    >>> one_line("a\\nb\\r\\n\\x1b[2Jc")
    'a b \\ufffd[2Jc'
    """
    return printable(text).replace("\n", " ").replace("\t", " ")


def short(value: object, most: int = 60) -> str:
    """A value in an error: its repr on one line, with dots where it was cut.

    >>> short("a\\nb"), short("abcdefghijkl", 10), short(list(range(9)), 10)
    ("'a\\\\nb'", "'abcdefg...'", '[0, 1, ...')
    """
    if isinstance(value, str):
        return repr(_cut(value, most))
    return _cut(one_line(repr(value)), most)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
