"""Text of others made safe to show: a model, a peer or a file may hold anything."""

from __future__ import annotations

import re

# Controls but tab and newline, halves of characters, line ends that no editor shows as such,
# and marks that turn the text around or hide in it.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    """A model writes anything: nothing of it may steer a terminal or break a file.

    >>> printable("red \\x1b[31m, half a \\ud83d, one\\ttab")
    'red \\ufffd[31m, half a \\ufffd, one\\ttab'
    """
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The same where a line break would forge a line.

    >>> one_line("a\\nb\\r\\n\\x1b[2Jc")
    'a b \\ufffd[2Jc'
    """
    return printable(text).replace("\n", " ").replace("\t", " ")
