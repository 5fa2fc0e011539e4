"""Reads clauses and orders in unknown wordings, with care.

Generic, as ``loose``: what a clause is about is told by the kinds of numbers in it and by a few
words, and what it forbids by how often it says no. A clause that fits nothing, or two things, stays
unknown: a false flag costs more than a right one pays.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from chaosops.policies.scripted.arena.english import numbers, percents, plain

_NO = re.compile(
    r"\b(?:not?|never|none|nothing|neither|nor|without|unless|except|forbidden|prohibited|banned"
    r"|stop\w*|avoid\w*|refrain\w*|hands off|keeps? (?:off|away|out|clear)|leave\w*|off[ -]limits"
    r"|frozen|freez\w*|out of bounds|closed|exclud\w*|spare\w*|waits?|rests?|idle|pauses?|still"
    r"|wait(?:s|ed)? out|taboo|untouched|alone|other than|but)\b|n't\b"
)
_ORDER = re.compile(
    r"\b(?:orders?|approv\w+|permission|permit|authori[sz]\w+|sign(?:ed)?[ -]?off|ticket|mandate"
    r"|written|consent|say-so|told|instruct\w+|warrant|asked|go-ahead)\b"
)
_LOAD = re.compile(r"\b(?:util\w*|load\w*|bus(?:y|ier)|usage|occup\w+|demand|traffic|cpu)\b")
_LESS = re.compile(
    r"\b(?:below|under|beneath|less|lower|quiet\w*|calm\w*|at most|no more|up to|short of|fewer"
    r"|not? (?:above|over|beyond|exceed\w*)|falls?|drops?|down)\b"
)
_MORE = re.compile(
    r"\b(?:above|over|beyond|more|higher|exceed\w*|at least|busier|past|reach\w*|top\w*"
    r"|and up|or up|upwards?|rises?|greater)\b"
)
_AGO = re.compile(r"\b(?:ago|before|earlier|prior)\b")
_TIME = re.compile(r"\bminutes?\b|\bmin\b|\bfrom\b|\bbetween\b|\buntil\b|\btill\b|\bwindow\b")
_ONLY = re.compile(r"\b(?:only|solely|just|exclusively|nowhere but|needs?|requires?|must have)\b")
_SIZE = re.compile(
    r"\b(?:acts?|changes?|steps?|moves?|moving|time|once|single|each|jump|adjust\w*|one|go|shift"
    r"|alter\w*|setting|sum|total|together|altogether|all|combined|limit|cap|ceiling|max\w*)\b"
)
# What the wordings of train call it besides: a sentence that has these is no plain limit.
_LEAST = re.compile(r"\b(?:at least|no less|minimum|or more)\b")


class Limit(NamedTuple):
    """A clause as data; the numbers depend on its kind."""

    kind: str
    first: int = 0
    second: int = 0


def read_limit(sentence: str) -> Limit | None:
    """
    >>> read_limit("be gentle")
    >>> read_limit("a single move stays within twenty percent")
    Limit(kind='single', first=20, second=0)
    >>> read_limit("leave minutes -9 to -7 alone")
    Limit(kind='freeze', first=-9, second=-7)
    """
    text = plain(sentence)
    shares, others = percents(text), numbers(text)
    if len(shares) == 1 and not others and _LOAD.search(text):
        return _load(text, shares[0])
    if len(shares) == 1 and not _LOAD.search(text) and not _LEAST.search(text):
        return _size(text, shares[0], others)
    if shares:
        return None
    if len(others) == 2 and _TIME.search(text) and not _ONLY.search(text):
        return _freeze(text, others)
    says_no = _NO.search(text) or _ONLY.search(text)
    if not others and _ORDER.search(text) and says_no and " and " not in text:
        return Limit("order_only")
    return None


def _load(text: str, share: int) -> Limit | None:
    """Acts are allowed below a load, or above it."""
    less, more, no = (len(found.findall(text)) for found in (_LESS, _MORE, _NO))
    if (less > 0) == (more > 0):
        return None
    below = bool(less) != (no % 2 == 1)
    return Limit("below_load" if below else "above_load", share)


def _size(text: str, share: int, others: list[int]) -> Limit | None:
    if not _SIZE.search(text):
        return None
    if not others:
        return Limit("single", share)
    minutes = others[0]
    return Limit("window", share, minutes) if len(others) == 1 and minutes > 0 else None


def _freeze(text: str, minutes: list[int]) -> Limit | None:
    if _AGO.search(text) and all(minute > 0 for minute in minutes):
        minutes = [-minute for minute in minutes]
    if not _NO.search(text) or max(minutes) > 0:
        return None
    return Limit("freeze", min(minutes), max(minutes))


def is_off_limits(sentence: str, service: str) -> bool | None:
    """A sentence without numbers that says no, about services: is this one of them? The names of
    services may have digits."""
    if re.search(r"\d", re.sub(r"\w*[a-z-]\d+\b", " ", plain(sentence))):
        return None
    if not _NO.search(sentence) or _ONLY.search(sentence) or " and " not in sentence:
        return None
    return has_word(sentence, service)


def has_word(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def order_terms(order: str) -> tuple[int, int] | None:
    """How far an order lets an agent go, and until when."""
    text = plain(re.sub(r"\b[A-Za-z_]+(?:-[A-Za-z]+)*-?\d+\b", " ", order))
    shares, others = percents(text), numbers(text)
    if len(shares) != 1 or len(others) != 1:
        return None
    until = -others[0] if others[0] > 0 and _AGO.search(text) else others[0]
    return (shares[0], until) if until <= 0 else None
