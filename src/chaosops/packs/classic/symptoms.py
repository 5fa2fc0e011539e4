"""How a failure shows, as data that does not name the failure.

The observable half of the world holds a ``Symptoms`` and never the ``Failure`` it
belongs to. Wordings are alternatives. The seed picks one and fills in its numbers:
``{hex}``, ``{ms}``, ``{pct}`` and ``{n}`` are drawn for each line, ``{rev}`` and
``{build}`` once for an episode.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from chaosops.core.dice import Dice


class Marks(NamedTuple):
    """Identifiers that stay the same through an episode."""

    rev: int
    build: str

    @classmethod
    def draw(cls, dice: Dice) -> Marks:
        return cls(dice.between(12, 96), f"{dice.bits() & 0xFFFFF:05x}")


class Line(NamedTuple):
    """A log line or an alert, in several wordings."""

    service: str
    level: str
    wordings: tuple[str, ...]

    def write(self, dice: Dice, marks: Marks) -> str:
        bits = dice.bits()  # one draw serves the wording and every number in it
        wording = self.wordings[bits % len(self.wordings)]
        if "{" not in wording:
            return wording
        return wording.format(
            hex=f"{bits >> 8 & 0xFFFF:04x}",
            ms=600 + (bits >> 24 & 0xFF) % 29 * 50,
            pct=22 + (bits >> 32 & 0xFF) % 27,
            n=3 + (bits >> 40 & 0xFF) % 58,
            rev=marks.rev,
            build=marks.build,
        )


class Strain(NamedTuple):
    """The readings of a service in trouble; memory may grow from step to step."""

    cpu_pct: int
    memory_mb: int
    disk_pct: int
    latency_ms: int
    error_tenths: int
    memory_growth_mb: int = 0


class Deed(NamedTuple):
    """Something a fleet agent does. Its stated reason comes from the same words as all others.

    ``{v}`` and ``{next}`` in before and after become the version of the target.
    """

    agent: str
    action: str
    target: str
    before: str
    after: str


Wordings: TypeAlias = Mapping[str, tuple[str, ...]]  # by service and level: "db ERROR"


class Symptoms:
    def __init__(
        self,
        logs: Wordings,
        alerts: Wordings,
        strain: Mapping[str, Strain],
        deed: Deed | None = None,
    ) -> None:
        self.logs = _lines(logs)
        self.alerts = _lines(alerts)
        self.strain = strain
        self.deed = deed


def _lines(wordings: Wordings) -> tuple[Line, ...]:
    keys = [key.split() for key in wordings]
    return tuple(
        Line(service, level, texts)
        for (service, level), texts in zip(keys, wordings.values(), strict=True)
    )
