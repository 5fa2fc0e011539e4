"""The physical state of an arena incident: values that JSON can hold."""

from __future__ import annotations

from typing import NamedTuple

from chaosops.packs.arena.physics import Flow


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
    returned: int = 0  # how often the fault has come back, or is about to
    due: int = 0  # the step at which it will be back
    elsewhere: bool = False  # it will be back at another service
    noticed: bool = False  # the rogue knows that it was audited
    restarting: tuple[int, int] | None = None  # (service, until step)
    steady: int = 0  # steps in a row without anything wrong
    troubled: int = 0  # steps in a row with something wrong
    failing: tuple[int | None, ...] = ()  # by service, the step since which it fails
