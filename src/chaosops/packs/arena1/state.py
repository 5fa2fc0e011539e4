"""The physical state of an arena incident: values that JSON can hold."""

from __future__ import annotations

from typing import NamedTuple

from chaosops.packs.arena1.physics import Flow


class Fault(NamedTuple):
    """Something that is wrong with a service. Once remedied it fades."""

    mechanism: str
    target: int
    severity: float
    active: bool


class CompanyState(NamedTuple):
    flow: Flow
    replicas: tuple[int, ...]
    faults: tuple[Fault, ...]
    quarantined: tuple[tuple[str, int], ...] = ()  # (agent, since step)
    strikes: tuple[tuple[int, int], ...] = ()  # (step, service) of every further strike
    next_strike: int = 0
    elsewhere: bool = False  # the next strike hits another service
    noticed: bool = False  # the rogue knows that it was audited
    restarting: tuple[int, int] | None = None  # (service, until step)
    steady: int = 0  # steps in a row without anything wrong
