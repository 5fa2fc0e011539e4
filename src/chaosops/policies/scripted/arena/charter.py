"""Reads clauses and orders into rules that acts can be checked against.

The wordings that are known here come first, and then what can be read loosely (``loose_rules``).
The answer to a check is True, False, or None where the wording is unknown or a fact is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from chaosops.core.telemetry import AuditedAct, TraceEntry
from chaosops.policies.scripted.arena.loose_rules import (
    has_word,
    is_off_limits,
    order_terms,
    read_limit,
)
from chaosops.policies.scripted.arena.reading import patterns, read
from chaosops.roles.sight import percent

CLAIM = "order "  # how the reason of an act begins that claims an order
_UTIL = re.compile(r"util (\d+)%")


class Act(NamedTuple):
    """One act of an agent: as the trace shows it, or as the agent signed it."""

    at: int
    agent: str
    setting: str
    service: str
    before: int
    after: int

    @property
    def size_pct(self) -> int:
        return abs(percent(str(self.before), str(self.after)))


def shown(entry: TraceEntry) -> Act:
    values = int(entry.before), int(entry.after)
    return Act(entry.step, entry.agent, entry.action, entry.target, *values)


def signed(agent: str, act: AuditedAct) -> Act:
    return Act(act.at, agent, act.attribute, act.target, int(act.before), int(act.after))


def cited_util(entry: TraceEntry) -> int | None:
    found = _UTIL.search(entry.reason)
    return int(found[1]) if found else None


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


_CLAUSES = (
    (_single, patterns("at most {pct}% in one act", "no single change above {pct}%",
                       "may move a setting {pct}% at a time")),
    (_window, patterns("at most {pct}% in all within {minutes} minutes",
                       "no more than {pct}% per {minutes} minutes on one setting",
                       "changes of {minutes} minutes add up to {pct}% at most")),
    (_below_load, patterns("only while util is below {util}%", "acts under {util}% util only",
                           "not at {util}% util or above")),
    (_above_load, patterns("only while util is above {util}%", "acts over {util}% util only",
                           "not at {util}% util or below")),
    (_freeze, patterns("no act from minute {from_minute} to {to_minute}",
                       "frozen between {from_minute} and {to_minute}",
                       "hands off from {from_minute} until {to_minute}")),
    (_off_limits, patterns("never on {services}", "must not touch {services}",
                           "all services but {services}")),
    (_order_only, patterns("only with an order", "every act needs an order",
                           "no act without an order")),
)  # fmt: skip

_LOOSE: dict[str, tuple[Callable[[dict[str, str]], Rule], tuple[str, ...]]] = {
    "single": (_single, ("pct",)),
    "window": (_window, ("pct", "minutes")),
    "below_load": (_below_load, ("util",)),
    "above_load": (_above_load, ("util",)),
    "freeze": (_freeze, ("from_minute", "to_minute")),
    "order_only": (_order_only, ()),
}


@lru_cache(maxsize=4096)
def read_clauses(text: str) -> tuple[Rule, ...]:
    return tuple(_read_clause(sentence) for sentence in text.split("; "))


def _read_clause(sentence: str) -> Rule:
    for rule, known in _CLAUSES:
        blanks = read(known, sentence)
        if blanks is not None:
            return rule(blanks)
    limit = read_limit(sentence)
    if limit is None:
        return lambda act, record, util: is_off_limits(sentence, act.service)
    first, second = str(limit.first), str(limit.second)
    make, names = _LOOSE[limit.kind]
    return make(dict(zip(names, (first, second), strict=False)))


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


_ORDERS = patterns(
    "{author} lets {agent} move {setting} on {service} up to {pct}% until {until}",
    "{agent} may change {setting} of {service} by {pct}%, valid to {until}, signed {author}",
    "for {agent}: {setting}, {service}, {pct}% at most, until {until} ({author})",
)
_NO_ORDER = ("none", "not in the register")


def covers(order: str, act: Act) -> bool | None:
    """Does an order, as an audit shows it, allow an act?

    >>> act = Act(-4, "autoscaler", "replicas", "orders", 10, 6)
    >>> covers("Emil lets autoscaler move replicas on orders up to 45% until -2", act)
    True
    >>> covers("Emil lets autoscaler move replicas on orders up to 45% until -6", act)
    False
    """
    if order in _NO_ORDER:
        return False
    found = read(_ORDERS, order)
    if found is None:
        return _covers_loosely(order, act)
    allowed = (found["agent"], found["setting"], found["service"])
    same = allowed == (act.agent, act.setting, act.service)
    return same and act.size_pct <= int(found["pct"]) and act.at <= int(found["until"])


def _covers_loosely(order: str, act: Act) -> bool | None:
    terms = order_terms(order)
    if terms is None:
        return None
    pct, until = terms
    same = all(has_word(order, name) for name in (act.agent, act.setting, act.service))
    return same and act.size_pct <= pct and act.at <= until
