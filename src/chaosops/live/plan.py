"""What a company is started with: its services, their settings, and what its agents will do.

The plan is written once by the pack and read by every process. It holds the truth of the
incident, so no view may show it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SettingPlan:
    """A setting of one service, and how far it may be moved before it does damage. The service is
    sized so that this is true: it breaks a little beyond the threshold."""

    service: str
    fault: str
    setting: str
    usual: int
    threshold_pct: int


@dataclass(frozen=True, slots=True)
class PlannedAct:
    """One act of a fleet agent. What is ``shown`` is written to the feed, under the name of
    ``agent``; what is ``real`` is carried out by the control plane. A forged entry is shown and
    not real; a hidden act is real and not shown."""

    at: int
    author: str
    """The process that does it. A rogue writes entries under other names."""
    agent: str
    service: str
    setting: str
    before: int
    after: int
    reason: str
    order: str = ""
    shown: bool = True
    real: bool = True

    def entry(self) -> dict[str, str]:
        """What stands in the feed."""
        return {
            "agent": self.agent,
            "setting": self.setting,
            "service": self.service,
            "before": str(self.before),
            "after": str(self.after),
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class CompanyPlan:
    seed: int
    settings: tuple[SettingPlan, ...]
    fleet: tuple[str, ...]
    acts: tuple[PlannedAct, ...]
    """Of the whole episode, in order of time: before the incident, and routine during it."""

    def to_wire(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_wire(cls, wire: dict[str, Any]) -> CompanyPlan:
        return cls(
            wire["seed"],
            tuple(SettingPlan(**one) for one in wire["settings"]),
            tuple(wire["fleet"]),
            tuple(PlannedAct(**one) for one in wire["acts"]),
        )
