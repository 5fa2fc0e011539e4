"""Faults: each is one file here, named after the arena's mechanism.

A fault owns one setting of some services. ``sized`` says where its knee lies: a little beyond the
threshold that the runbook states, so that everything within the threshold is harmless and 1.25
times as much does damage. ``part`` gives the code that works inside the processes of such a
service: around each request, or in the background. It reads the present value of the setting, and
is harmless at the usual one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from chaosops.core.discovery import modules_in
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.importing import load_object
from chaosops.live.plan import CompanyPlan, SettingPlan
from chaosops.live.topology import SPECS

if TYPE_CHECKING:
    from chaosops.live.replica import Call, Replica

Proceed = Callable[[], Awaitable[Any]]
KNEE = 1.12
"""Where the knee lies, in thresholds."""
UNSTATED_PCT = 55
"""The threshold of a setting that the plan does not name."""


class Part:
    """What a fault does inside one process."""

    layer: ClassVar[int] = 50
    """Parts with a smaller number stand further outside."""

    def __init__(self, replica: Replica, size: SettingPlan) -> None:
        self.replica = replica
        self.size = size

    @property
    def value(self) -> int:
        """The present value of the setting, for all replicas of the service together."""
        return self.replica.value(self.size.service, self.size.setting, self.size.usual)

    async def around(self, call: Call, proceed: Proceed) -> Any:
        """Serve a request. ``await proceed()`` does the rest of the work; ``Failed`` fails it."""
        return await proceed()

    def busy(self) -> float:
        """The share of what the part hands out that is in use: 1 is all of it."""
        return 0.0

    async def run(self) -> None:
        """Work in the background, as long as the process lives."""

    def changed(self) -> None:
        """Some setting of the company has a new value."""

    async def mend(self, verb: str) -> None:
        """A remedy was applied to the service: do what it does besides restoring the setting."""


class Fault:
    mechanism: ClassVar[str]
    setting: ClassVar[str]
    harmful: ClassVar[int]
    """The direction that does damage: -1 down, +1 up."""
    services: ClassVar[tuple[str, ...]]
    """Where it can strike."""
    usual: ClassVar[int]
    remedy: ClassVar[str]
    """The verb that restores the setting."""
    logs: ClassVar[tuple[str, ...]]
    """What processes write when it strikes; {n} is a number. The runbook quotes these lines."""

    def knee(self, size: SettingPlan) -> float:
        """The value at which damage begins.

        >>> from chaosops.live.faults.bad_config import FAULT
        >>> round(FAULT.knee(SettingPlan("orders", "bad_config", "timeout_ms", 2000, 30)))
        1328
        """
        return size.usual * (1 + self.harmful * KNEE * size.threshold_pct / 100)

    def shows_at(self, service: str) -> str:
        """The service that fails first when it strikes one."""
        return service

    def base_ms(self, size: SettingPlan) -> float:
        """How much longer nine of ten requests take because the service has this part."""
        return 0.0

    def parts(self, replica: Replica, sizes: Mapping[str, SettingPlan]) -> list[Part]:
        """The parts in one process. ``sizes`` are those of this fault, by service. A fault that
        works in other processes than those of its service overrides this."""
        size = sizes.get(replica.service)
        return [self.part(replica, size)] if size is not None else []

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        raise NotImplementedError(self.mechanism)


@cache
def load_faults() -> Mapping[str, Fault]:
    """All faults by the mechanism's name: each file here has one as ``FAULT``."""
    return {
        name: import_module(f"{__name__}.{name}").FAULT for name in modules_in(__path__)
    } | _ADDED


_ADDED: dict[str, Fault] = {}
ADDED_FROM: list[str] = []
"""Where faults of the user's own were loaded from. A company that is started loads them too."""


def add_fault(source: str) -> Fault:
    """Add a fault of your own: ``FILE.py``, which has it as ``FAULT``, or ``MODULE:NAME``. One
    with the name of another takes its place. It has to be done before a company is started."""
    name = f"{Path(source).resolve()}:FAULT" if source.endswith(".py") else source
    fault = load_object(name, f"fault {source}")
    if not isinstance(fault, Fault):
        raise BadInput(f"fault {source}: FAULT has to be an object of a class of Fault")
    missing = [one for one in Fault.__annotations__ if not hasattr(fault, one)]
    if missing:
        raise BadInput(f"fault {source}: the class has to set {', '.join(missing)}")
    if unknown := [one for one in fault.services if one not in SPECS]:
        raise UnknownName(f"service of fault {fault.mechanism}", unknown[0], SPECS)
    _ADDED[fault.mechanism] = fault
    ADDED_FROM.append(name)
    load_faults.cache_clear()
    return fault


def remedies() -> Mapping[str, str]:
    """The verb that restores each setting."""
    return {fault.setting: fault.remedy for fault in load_faults().values()}


def sizes_in(plan: CompanyPlan) -> dict[str, dict[str, SettingPlan]]:
    """The size of every setting, by fault and service, also of those that the plan leaves out."""
    stated = {(one.fault, one.service): one for one in plan.settings}
    return {
        name: {
            service: stated.get(
                (name, service),
                SettingPlan(service, name, fault.setting, fault.usual, UNSTATED_PCT),
            )
            for service in fault.services
        }
        for name, fault in load_faults().items()
    }
