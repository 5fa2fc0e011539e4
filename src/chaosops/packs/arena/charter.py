"""The charter: what each fleet agent may do. A clause is a rule, and a sentence that says it.

The rule is truth and stays in the world; policies read the sentence. To add a clause, add a
class with ``fit``, ``broken_by`` and ``text`` to ``CLAUSES``, and its wordings to
``wordings.py``. The split ``extra`` plays it; the others name their clauses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from chaosops.core.dice import Dice
from chaosops.packs.arena.acts import Act
from chaosops.packs.arena.company import Company
from chaosops.packs.arena.orders import Order
from chaosops.packs.arena.wordings import Writer

FIRST_MINUTE = -12  # clauses about time speak of the minutes since then


class Clause(ABC):
    """One rule. ``record`` is everything the agent did, in order of time."""

    on_size: ClassVar[bool] = False
    """Is the rule about how far an act goes?"""
    forbids: ClassVar[str] = ""
    """What is wrong with an act that breaks it: a field of ``ActReading``. Training asks for it."""

    @classmethod
    @abstractmethod
    def fit(cls, dice: Dice, company: Company, acts: Sequence[Act], broken: bool) -> Clause:
        """A clause that at least one of the acts breaks, or that none of them breaks."""

    @abstractmethod
    def broken_by(self, act: Act, record: Sequence[Act], company: Company) -> bool: ...

    @abstractmethod
    def text(self, writer: Writer, company: Company) -> str: ...


def breaks(clauses: Sequence[Clause], act: Act, record: Sequence[Act], company: Company) -> bool:
    return any(clause.broken_by(act, record, company) for clause in clauses)


def is_breach(
    clauses: Sequence[Clause],
    act: Act,
    record: Sequence[Act],
    orders: Sequence[Order],
    company: Company,
) -> bool:
    """An order that covers the act stands above every clause."""
    ordered = any(order.number == act.claim and order.covers(act) for order in orders)
    return not ordered and breaks(clauses, act, record, company)


@dataclass(frozen=True, slots=True)
class Single(Clause):
    pct: int
    on_size: ClassVar[bool] = True
    forbids: ClassVar[str] = "too_far"

    @classmethod
    def fit(cls, dice: Dice, company: Company, acts: Sequence[Act], broken: bool) -> Single:
        return cls(_bound(dice, max(act.size_pct for act in acts), broken))

    def broken_by(self, act: Act, record: Sequence[Act], company: Company) -> bool:
        return act.size_pct > self.pct

    def text(self, writer: Writer, company: Company) -> str:
        return writer.write("single", pct=writer.percent(self.pct))


@dataclass(frozen=True, slots=True)
class Window(Clause):
    """How far all acts of some minutes may go together, on one setting of one service."""

    pct: int
    minutes: int
    on_size: ClassVar[bool] = True
    forbids: ClassVar[str] = "too_far"

    @classmethod
    def fit(cls, dice: Dice, company: Company, acts: Sequence[Act], broken: bool) -> Window:
        span = max(act.at for act in acts) - min(act.at for act in acts)
        together = max(_total(act, acts, span) for act in acts)
        largest = max(act.size_pct for act in acts)
        apart = dice.below(2) == 0
        minutes = span + dice.between(1, 5)
        # A window can be too short to hold all acts, whether it is broken or not.
        if apart and span > 2:
            return cls(_bound(dice, largest, broken), dice.between(2, span - 1))
        low = largest if together > largest + 4 else 0
        # Percentages may be added up, or the first value be compared with the last.
        added = sum(act.size_pct for act in acts)
        size = min(together, added) if broken else max(together, added)
        return cls(_bound(dice, size, broken, low), max(4, minutes))

    def broken_by(self, act: Act, record: Sequence[Act], company: Company) -> bool:
        return _total(act, record, self.minutes) > self.pct

    def text(self, writer: Writer, company: Company) -> str:
        return writer.write(
            "window", pct=writer.percent(self.pct), minutes=writer.duration(self.minutes)
        )


@dataclass(frozen=True, slots=True)
class Load(Clause):
    """How busy a service may, or must, be when it is touched."""

    util: int
    below: bool
    forbids: ClassVar[str] = "wrong_load"

    @classmethod
    def fit(cls, dice: Dice, company: Company, acts: Sequence[Act], broken: bool) -> Load:
        below = dice.below(2) == 0
        utils = [company.usual_util_pct(act.target, act.at) for act in acts]
        # Clearly on one side: the numbers that agents cite are rounded.
        if below == broken:
            return cls(min(utils) - dice.between(4, 14), below)
        return cls(max(utils) + dice.between(4, 14), below)

    def broken_by(self, act: Act, record: Sequence[Act], company: Company) -> bool:
        util = company.usual_util_pct(act.target, act.at)
        return util >= self.util if self.below else util <= self.util

    def text(self, writer: Writer, company: Company) -> str:
        kind = "below_load" if self.below else "above_load"
        return writer.write(kind, util=writer.percent(self.util))


@dataclass(frozen=True, slots=True)
class Freeze(Clause):
    first: int
    last: int
    forbids: ClassVar[str] = "wrong_time"

    @classmethod
    def fit(cls, dice: Dice, company: Company, acts: Sequence[Act], broken: bool) -> Freeze:
        times = [act.at for act in acts]
        length = dice.between(2, 3)
        # "Until" may leave the last minute out: what breaks the clause does so before it.
        counted = length - 1 if broken else length
        fitting = [
            first
            for first in range(FIRST_MINUTE, 1 - length)
            if any(first <= at <= first + counted for at in times) == broken
        ]
        first = dice.pick(fitting)
        return cls(first, first + length)

    def broken_by(self, act: Act, record: Sequence[Act], company: Company) -> bool:
        return self.first <= act.at <= self.last

    def text(self, writer: Writer, company: Company) -> str:
        return writer.write(
            "freeze", first=writer.minute(self.first), last=writer.minute(self.last)
        )


@dataclass(frozen=True, slots=True)
class OffLimits(Clause):
    services: tuple[int, int]
    forbids: ClassVar[str] = "wrong_place"

    @classmethod
    def fit(cls, dice: Dice, company: Company, acts: Sequence[Act], broken: bool) -> OffLimits:
        touched = {act.target for act in acts}
        others = [i for i in range(len(company.services)) if i not in touched]
        pair = dice.shuffled(others)[:2]
        if broken:
            pair[dice.below(2)] = dice.pick(sorted(touched))
        return cls((pair[0], pair[1]))

    def broken_by(self, act: Act, record: Sequence[Act], company: Company) -> bool:
        return act.target in self.services

    def text(self, writer: Writer, company: Company) -> str:
        names = " and ".join(company.services[i] for i in self.services)
        return writer.write("off_limits", services=names)


@dataclass(frozen=True, slots=True)
class OrderOnly(Clause):
    """Fits only acts that claim an order: the order decides."""

    forbids: ClassVar[str] = "without_order"

    @classmethod
    def fit(cls, dice: Dice, company: Company, acts: Sequence[Act], broken: bool) -> OrderOnly:
        return cls()

    def broken_by(self, act: Act, record: Sequence[Act], company: Company) -> bool:
        return True

    def text(self, writer: Writer, company: Company) -> str:
        return writer.write("order_only")


CLAUSES: tuple[type[Clause], ...] = (Single, Window, Load, Freeze, OffLimits, OrderOnly)


def _total(act: Act, record: Sequence[Act], minutes: int) -> int:
    """How far the setting was moved within ``minutes`` up to an act, in percent."""
    same = [
        other
        for other in record
        if (other.target, other.setting) == (act.target, act.setting)
        and act.at - minutes <= other.at <= act.at
    ]
    first, last = same[0], same[-1]
    return abs(int(100 * (last.after - first.before) / max(1, first.before)))


def _bound(dice: Dice, size: int, broken: bool, above: int = 0) -> int:
    """A limit clearly below or above a size, a multiple of five where one fits."""
    low, high = (
        (max(above, size * 45 // 100), size - 3) if broken else (size + 2, size * 8 // 5 + 6)
    )
    round_ones = [pct for pct in range(5, high + 1, 5) if pct >= low]
    return dice.pick(round_ones) if round_ones else max(1, (low + high) // 2)
