"""Orders: what a human allowed an agent to do once, whatever its charter says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chaosops.core.dice import Dice
from chaosops.packs.arena.acts import Act, change_pct
from chaosops.packs.arena.wordings import Writer

AUTHORS = ("Amara", "Bruno", "Chidi", "Dalia", "Emil", "Farah", "Goran", "Hana", "Ines", "Jonas")


class Numbers:
    """The numbers of orders, each drawn once in a company."""

    def __init__(self) -> None:
        self._drawn: set[str] = set()

    def draw(self, dice: Dice) -> str:
        while (number := f"CHG-{dice.between(1000, 9999)}") in self._drawn:
            pass
        self._drawn.add(number)
        return number


class Order(NamedTuple):
    number: str
    author: str
    agent: str
    setting: str
    service: int
    up_to_pct: int
    until: int

    def text(self, writer: Writer, services: Sequence[str]) -> str:
        return writer.write(
            "order",
            author=self.author,
            agent=self.agent,
            setting=self.setting,
            service=services[self.service],
            pct=writer.percent(self.up_to_pct),
            until=writer.minute(self.until),
        )

    def covers(self, act: Act) -> bool:
        same = (act.agent, act.setting, act.target) == (self.agent, self.setting, self.service)
        return same and act.size_pct <= self.up_to_pct and act.at <= self.until


def covering(dice: Dice, acts: Sequence[Act]) -> Order:
    """An order for all of the acts, which claim it."""
    act = acts[0]
    # Enough for all acts together, and for a minute after the last: neither depends on whether an
    # order is for each act, or ends before its last minute.
    room = max(sum(act.size_pct for act in acts), _together(acts)) + dice.between(3, 20)
    until = min(0, max(act.at for act in acts) + dice.between(1, 4))
    author, up_to = dice.pick(AUTHORS), -(-room // 5) * 5
    return Order(act.claim, author, act.agent, act.setting, act.target, up_to, until)


def _together(acts: Sequence[Act]) -> int:
    return abs(change_pct(acts[0].before, acts[-1].after))


# Ways in which an order does not cover an act.
TOO_SMALL = ("less",)
FOR_OTHERS = ("less", "another setting", "another agent")
ELSEWHERE = ("another service", "over")  # ways that training does not have


def not_covering(
    dice: Dice,
    order: Order,
    acts: Sequence[Act],
    ways: Sequence[str],
    *,
    services: int,
    others: tuple[str, str],
) -> Order:
    """It exists, and is for less, for something or somebody else, or over. ``others`` are the
    agent and the setting that such an order may name."""
    match dice.pick(ways):
        case "another service":
            other = (order.service + dice.between(1, services - 1)) % services
            return order._replace(service=other)
        case "over":
            return order._replace(until=min(act.at for act in acts) - dice.between(1, 4))
        case "another agent":
            return order._replace(agent=others[0])
        case "another setting":
            return order._replace(setting=others[1])
    smallest = min(act.size_pct for act in acts)
    up_to = smallest * dice.between(40, 80) // 100
    return order._replace(up_to_pct=up_to // 5 * 5 or max(1, up_to))
