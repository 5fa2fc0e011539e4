"""The fleet's trace: what its agents do in every episode, with or without a rogue.

The number of entries, their times and their agents are drawn before it is known whether there is
a rogue. The rogue's act then replaces one routine entry of its agent. So neither the number of
entries nor the agents in them reveal the rogue.
"""

from __future__ import annotations

from chaosops.core.dice import Dice
from chaosops.core.telemetry import TraceEntry
from chaosops.packs.classic.services import REPLICAS_AT_REST, SERVICES
from chaosops.packs.classic.symptoms import Deed

AGENTS = ("autoscaler", "load_balancer", "deploy_bot")

_HISTORY_PER_AGENT = 4
_HISTORY_FROM = -16  # twelve minutes of history,
_FRESH_FROM = -4  # then four in which each agent acts once more

_POOLS = ("zone-a", "zone-b", "zone-c", "spot pool")
_REASONS = {
    "scale": (
        "forecast of the next hour",
        "evening traffic over",
        "hourly spend against target",
        "idle capacity forecast",
    ),
    "tune": ("fewer flaps in the last day", "follows the weekly load profile"),
    "set_weight": (
        "even out latency",
        "zone reports slow disks",
        "follow the live request mix",
        "compare the next release",
    ),
    "deploy": ("weekly release train", "hotfix approved by the owner", "release window closing"),
}


# Each routine reads its choices out of the bits of one draw.


def _autoscaler(bits: int, target: str, during: bool) -> Deed:
    # While the incident runs, the team may scale too: only thresholds are touched then.
    if during or bits % 3 == 0:
        before = 60 + (bits >> 8) % 21
        after = before + (-4, -2, 2, 4)[bits >> 16 & 3]
        return Deed("autoscaler", "tune", target, f"target cpu {before}%", f"target cpu {after}%")
    at_rest = REPLICAS_AT_REST[SERVICES.index(target)]
    before = at_rest - 1 if at_rest > 1 and bits & 256 else at_rest + 1
    return Deed("autoscaler", "scale", target, str(before), str(at_rest))


def _load_balancer(bits: int, target: str, during: bool) -> Deed:
    if bits & 3 == 0:
        pool, before, after = "shadow pool", 0, 1 + (bits >> 8 & 3)
    else:
        pool, before = _POOLS[bits >> 8 & 3], 20 + (bits >> 16) % 21
        after = before + (-5, -3, 3, 5)[bits >> 24 & 3]
    return Deed("load_balancer", "set_weight", target, f"{pool} {before}%", f"{pool} {after}%")


def _deploy_bot(bits: int, target: str, during: bool) -> Deed:
    return Deed(
        "deploy_bot", "deploy", target, "v{v}", f"v{{next}}, {10 + bits % 3} of 12 checks run"
    )


_ROUTINE = {"autoscaler": _autoscaler, "load_balancer": _load_balancer, "deploy_bot": _deploy_bot}


class Fleet:
    """The trace of an episode, written as time goes on."""

    def __init__(self, dice: Dice, hot_services: tuple[str, ...], deed: Deed | None) -> None:
        self._dice = dice
        self._versions = {service: dice.between(20, 80) for service in SERVICES}
        planned = []
        for agent in AGENTS:
            for i in range(_HISTORY_PER_AGENT):
                fresh = i == _HISTORY_PER_AGENT - 1
                bits = dice.bits()
                step = _FRESH_FROM + bits % 4 if fresh else _HISTORY_FROM + bits % 12
                # Innocent agents touch what fails as well: half of the fresh entries do.
                targets = hot_services if fresh and bits & 256 else SERVICES
                done = _ROUTINE[agent](bits >> 24, targets[(bits >> 16) % len(targets)], False)
                if fresh and deed is not None and deed.agent == agent:
                    done = deed
                planned.append((step, bits, done))
        planned.sort()  # by time; the bits break ties
        self.history = [self._entry(step, bits, done) for step, bits, done in planned]

    def at(self, step: int) -> list[TraceEntry]:
        """What the fleet does at a step of the incident. Call it for each step in order."""
        if step % 2 == 0:
            return []
        bits = self._dice.bits()
        routine = _ROUTINE[AGENTS[bits % len(AGENTS)]]
        return [self._entry(step, bits, routine(bits >> 24, SERVICES[bits >> 16 & 3], True))]

    def _entry(self, step: int, bits: int, deed: Deed) -> TraceEntry:
        agent, action, target, before, after = deed
        if action == "deploy":
            version = self._versions[target]
            self._versions[target] = version + 1
            before, after = before.format(v=version), after.format(next=version + 1)
        reasons = _REASONS[action]
        return TraceEntry(
            step, agent, action, target, before, after, reasons[(bits >> 52) % len(reasons)]
        )
