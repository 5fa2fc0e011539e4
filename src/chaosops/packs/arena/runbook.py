"""The runbook of a company: a page for each kind of fault it knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from chaosops.core.actions import (
    Action,
    Escalate,
    PauseBatch,
    Purge,
    RenewCert,
    Reroute,
    Restart,
    Rollback,
    Scale,
    Throttle,
    WarmCache,
)
from chaosops.core.dice import Dice
from chaosops.core.documents import Page
from chaosops.packs.arena.mechanism import Mechanism, Modifiers, Shows
from chaosops.packs.arena.mechanisms import MECHANISMS
from chaosops.packs.arena.shapes import SHAPES
from chaosops.packs.arena.splits import Split
from chaosops.packs.arena.vocabulary import VOCABULARIES
from chaosops.packs.arena.wordings import Writer

PAGES = (10, 12)
THRESHOLDS_PCT = (20, 25, 30, 35, 45, 55, 70, 90)
_CAUSE_PCT = THRESHOLDS_PCT[:4]  # what is beyond them, and adds up, stays above zero
_OTHER_PAGES = 3  # at least, where a user brought faults along
_STEMS = 4  # words of a drawn fault: its name, its setting, two log lines
_KINDS = {
    Shows.HERE: ("edge", "api", "queue", "worker", "cache", "store"),
    Shows.BELOW: ("edge", "api", "worker", "cache"),
    Shows.ABOVE: ("api", "worker", "cache", "store"),
}
# Named here, so that a new action changes no company.
REMEDIES: tuple[type[Action], ...] = (
    *(Restart, Rollback, Scale, Reroute, Purge, RenewCert, Throttle, WarmCache, PauseBatch),
    Escalate,
)


class Kind(NamedTuple):
    """A kind of fault as a company knows it: its truth."""

    mechanism: Mechanism
    threshold_pct: int
    """How far the setting has to be moved in the harmful direction to do damage."""

    @property
    def name(self) -> str:
        return self.mechanism.id


def draw_runbook(dice: Dice, split: Split, own: Sequence[Mechanism]) -> tuple[Kind, ...]:
    """The kinds of faults of a company. The first of them is at work; the pages are shuffled
    when they are written."""
    count = dice.between(*PAGES)
    drawn = dice.unit() < split.p_drawn
    if drawn:
        known = list(_drawn_mechanisms(dice, split, count))
    else:
        first = dice.pick(split.mechanisms)
        others = [one for one in dice.shuffled(split.known) if one != first]
        known = [MECHANISMS[name] for name in (first, *others[: count - 1])]
    if own:
        taken = {(one.id, one.setting) for one in own}
        names = {word for pair in taken for word in pair}
        known = [one for one in known if one.id not in names and one.setting not in names]
        first_own = dice.below(len(own))
        mine = [own[first_own], *(one for i, one in enumerate(own) if i != first_own)]
        # Other pages stay, so that there is something else that agents can change.
        mine = mine[: PAGES[1] - _OTHER_PAGES]
        known = [*mine, *known][: max(count, len(mine) + _OTHER_PAGES)]
    return tuple(
        Kind(one, dice.pick(THRESHOLDS_PCT if i else _CAUSE_PCT)) for i, one in enumerate(known)
    )


def _drawn_mechanisms(dice: Dice, split: Split, count: int) -> Iterator[Mechanism]:
    vocabulary = VOCABULARIES[split.vocabulary]
    stems = vocabulary.draw_stems(dice, _STEMS * count)
    lines = dice.shuffled(vocabulary.lines)
    for i in range(count):
        shape = dice.pick(SHAPES[split.shapes if i == 0 else "train"])
        measure, low, high = dice.pick(vocabulary.measures)
        first = low + dice.below((high - low) // 2)
        yield Mechanism(
            id=f"{next(stems)}_{dice.pick(vocabulary.mishaps)}",
            setting=f"{next(stems)}_{measure}",
            harmful=dice.pick((-1, 1)),
            values=(first, high),
            changed_by=tuple(sorted(dice.sample(split.agents, dice.between(3, 4)))),
            strikes=tuple(sorted(dice.sample(_KINDS[shape.shows], 3))),
            effect=shape.effect,
            remedy=dice.pick(REMEDIES),
            logs=tuple(
                lines[(3 * i + j) % len(lines)].replace("{s}", next(stems)) for j in range(2)
            ),
            severity=shape.severity,
            growth=shape.growth,
            stock=shape.stock,
            shows=shape.shows,
        )


def write_page(writer: Writer, kind: Kind) -> Page:
    mechanism, threshold_pct = kind
    pct = writer.percent(threshold_pct)
    where = writer.write(mechanism.shows)
    first, *others = (line.replace("{n}", "N") for line in mechanism.logs)
    second = others[0] if others else first
    down = mechanism.harmful < 0
    signs = writer.write("signs", first=first, second=second, gauge=writer.write(_gauge(mechanism)))
    cause = writer.write(
        "cause_down" if down else "cause_up", setting=mechanism.setting, pct=pct, service=where
    )
    if mechanism.remedy is Escalate:
        remedy = writer.write("escalation")
    else:
        verb = writer.write(mechanism.remedy.verb)
        remedy = writer.write("remedy", verb=verb, service=writer.write(mechanism.shows))
    return Page(mechanism.id, signs, cause, remedy)


def _gauge(mechanism: Mechanism) -> str:
    """What the gauges of the failing service show most."""
    if mechanism.stock:
        return mechanism.stock
    effect: Modifiers = mechanism.effect
    for moved, kind in (
        (effect.capacity < 1.0, "capacity"),
        (effect.inflow > 1.0 or effect.outflow > 1.0, "load"),
        (effect.errors > 0.0, "errors"),
    ):
        if moved:
            return kind
    return "latency"
