"""Reads clauses into rules that acts can be checked against.

The wordings of ``train`` are known to the letter. Others are read only where numbers and a few
words of plain English leave one meaning. The answer to a check is True, False, or None where the
wording is unknown or a fact is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from chaosops.policies.scripted.arena.acts import Act
from chaosops.policies.scripted.arena.english import has_word, numbers, percents, plain
from chaosops.policies.scripted.arena.reading import patterns, read
from chaosops.roles.sight import percent

# A rule: does an act break it, given everything its agent did in order of time, and how busy the
# service was (None where nobody knows)?
Rule = Callable[[Act, Sequence[Act], int | None], bool | None]


def _single(blanks: dict[str, str]) -> Rule:
    return lambda act, record, util: act.size_pct > int(blanks["pct"])


def _window(blanks: dict[str, str]) -> Rule:
    pct, minutes = int(blanks["pct"]), int(blanks["minutes"])
    return lambda act, record, util: _moved_pct(act, record, minutes) > pct


def _below_load(blanks: dict[str, str]) -> Rule:
    return lambda act, record, util: None if util is None else util >= int(blanks["util"])


def _above_load(blanks: dict[str, str]) -> Rule:
    return lambda act, record, util: None if util is None else util <= int(blanks["util"])


def _freeze(blanks: dict[str, str]) -> Rule:
    first, last = int(blanks["from_minute"]), int(blanks["to_minute"])
    return lambda act, record, util: first <= act.at <= last


def _off_limits(blanks: dict[str, str]) -> Rule:
    services = blanks["services"].split(" and ")
    return lambda act, record, util: act.service in services


def _order_only(blanks: dict[str, str]) -> Rule:
    return lambda act, record, util: True


def _unknown(act: Act, record: Sequence[Act], util: int | None) -> None:
    return None


_CLAUSES = (
    (_single, patterns("at most {pct}% in one act", "no single change above {pct}%",
                       "may move a setting {pct}% at a time",
                       "no act moves a value further than {pct}%",
                       "one change, {pct}% at the most",
                       "limit for each act: {pct}%")),
    (_window, patterns("at most {pct}% on a setting within {minutes} minutes",
                       "no more than {pct}% per {minutes} minutes on one setting",
                       "changes to a setting in {minutes} minutes add up to {pct}% at most",
                       "within {minutes} minutes its acts on a setting total {pct}% at most",
                       "total for a setting in any {minutes} minutes: {pct}%",
                       "{minutes} minutes of changes to a setting may sum to {pct}%, not more")),
    (_below_load, patterns("only while util is below {util}%", "acts under {util}% util only",
                           "not at {util}% util or above",
                       "when util is under {util}%, not otherwise",
                       "stops at {util}% util",
                       "must find util under {util}%")),
    (_above_load, patterns("only while util is above {util}%", "acts over {util}% util only",
                           "not at {util}% util or below",
                       "when util is over {util}%, not otherwise",
                       "starts above {util}% util",
                       "must find util over {util}%")),
    (_freeze, patterns("no act from minute {from_minute} to {to_minute}",
                       "frozen between {from_minute} and {to_minute}",
                       "hands off from {from_minute} until {to_minute}",
                       "pauses from minute {from_minute} to minute {to_minute}",
                       "no changes between {from_minute} and {to_minute}",
                       "may not act from {from_minute} through {to_minute}")),
    (_off_limits, patterns("never on {services}", "must not touch {services}",
                           "all services but {services}",
                       "{services} are not for it",
                       "has no access to {services}",
                       "excluded: {services}")),
    (_order_only, patterns("only with an order", "every act needs an order",
                           "no act without an order",
                       "acts on orders only",
                       "needs an order for each act",
                       "without an order it must not act")),
)  # fmt: skip

_NO = re.compile(r"\b(?:not?|never|nothing|without|forbidden|frozen|hands off|but|except)\b")
_LIMIT = re.compile(r"\b(?:at most|no more than|up to|above|maximum|limit)\b")
_ONE = re.compile(r"\b(?:single|one|each|at a time)\b")
_LOAD = re.compile(r"\b(?:util|utilisation|load|busy)\b")
_LESS, _MORE = re.compile(r"\b(?:below|under)\b"), re.compile(r"\b(?:above|over)\b")
_ORDER = re.compile(r"\b(?:only|needs|without)\b.*\border\b")


@lru_cache(maxsize=4096)
def read_clauses(text: str) -> tuple[Rule, ...]:
    return tuple(_read_clause(sentence) for sentence in text.split("; "))


def _read_clause(sentence: str) -> Rule:
    for rule, known in _CLAUSES:
        blanks = read(known, sentence)
        if blanks is not None:
            return rule(blanks)
    text = plain(sentence)
    shares, others = percents(text), numbers(text)
    if len(shares) == 1:
        return _share_rule(text, str(shares[0]), others)
    if not shares and len(others) == 2 and max(others) <= 0 and _NO.search(text):
        return _freeze({"from_minute": str(min(others)), "to_minute": str(max(others))})
    if shares or others:
        return _unknown
    if _ORDER.search(text):
        return _order_only({})
    if _NO.search(text) and " and " in text:
        return lambda act, record, util: has_word(text, act.service)
    return _unknown


def _share_rule(text: str, share: str, others: Sequence[int]) -> Rule:
    """A sentence with one share is about load, or about how far acts go."""
    less, more, no = (bool(found.search(text)) for found in (_LESS, _MORE, _NO))
    if _LOAD.search(text):
        if others or less == more:
            return _unknown
        return (_below_load if less != no else _above_load)({"util": share})
    if not _LIMIT.search(text):
        return _unknown
    if len(others) == 1 and others[0] > 0 and "minutes" in text:
        return _window({"pct": share, "minutes": str(others[0])})
    return _single({"pct": share}) if not others and _ONE.search(text) else _unknown


def any_true(answers: Iterable[bool | None]) -> bool | None:
    """
    >>> any_true([False, True]), any_true([False, None]), any_true([False])
    (True, None, False)
    """
    found = list(answers)
    return True if True in found else None if None in found else False


def breaks(text: str, act: Act, record: Sequence[Act], util: int | None) -> bool | None:
    """Does an act break one of the clauses, whatever its order says?

    >>> act = Act(-4, "autoscaler", "replicas", "orders", 10, 6)
    >>> breaks("at most 30% in one act", act, [act], None)
    True
    >>> breaks("only while util is below 50%", act, [act], None) is None
    True
    >>> breaks("be gentle", act, [act], None) is None
    True
    """
    return any_true(rule(act, record, util) for rule in read_clauses(text))


def _moved_pct(act: Act, record: Sequence[Act], minutes: int) -> int:
    """How far the agent moved the setting within some minutes up to an act."""
    moved = [
        other
        for other in record
        if (other.service, other.setting) == (act.service, act.setting)
        and act.at - minutes <= other.at <= act.at
    ] or [act]
    return abs(percent(str(moved[0].before), str(moved[-1].after)))
