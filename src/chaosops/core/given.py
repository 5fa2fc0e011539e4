"""Arguments of Python calls. What is plainly meant is taken; the rest is an error of one line."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.printable import short


def one_or_more(given: Any) -> Iterable[Any]:
    """Several things. One of them alone stands for a list of one.

    >>> one_or_more("heuristic"), one_or_more(["random", "heuristic"])
    (['heuristic'], ['random', 'heuristic'])
    """
    several = isinstance(given, Iterable) and not isinstance(given, str)
    return given if several else [given]


def whole_number(name: str, given: Any, least: int) -> int:
    """A whole number, also one of numpy. True and False are none.

    >>> whole_number("seed", 7, least=0)
    7
    """
    try:
        number = index(given)
    except TypeError:
        number = None
    if number is None or isinstance(given, bool):
        raise BadInput(f"{name} must be a whole number, got {short(given)}")
    if number < least:
        raise BadInput(f"{name} must be {least} or more, got {number}")
    return number
