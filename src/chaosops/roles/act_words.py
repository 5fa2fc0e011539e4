"""One act of a fleet agent in words: what the trace says, what its agent signed, and what an
inspection found."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from chaosops.core.telemetry import (
    AuditedAct,
    AuditReport,
    Inspection,
    ServiceChange,
    TraceEntry,
)
from chaosops.roles.sight import percent

_Real = TypeVar("_Real", AuditedAct, ServiceChange)


@lru_cache(maxsize=4096)
def act_words(
    act: TraceEntry, look: Inspection | None, audit: AuditReport | None, again: bool
) -> str:
    """What the trace says, what the agent signed, and what was found on the service. What agrees
    with the trace is not written again, nor is the order of the act before."""
    change = f"{act.step:+d} {percent(act.before, act.after):+d}%"
    util = act.reason.find("util")
    reason = act.reason[max(0, util) :]
    words = [f"{change} {reason}"]
    if audit is not None:
        signed = _likest(
            act, [x for x in audit.acts if (x.at, x.attribute, x.target) == _place(act)]
        )
        if signed is None:
            words.append("not signed")
        elif util >= 0:
            words.append(f"signed{_unlike(act, signed)}")
        else:  # the order, in place of the number that the act claims
            order = "the same" if again else signed.order
            words = [change, f"signed{_unlike(act, signed)}, order: {order}"]
    if look is not None:
        words.append(_inspected_words(act, look, reason))
    return ", ".join(words)


def _inspected_words(act: TraceEntry, look: Inspection, reason: str) -> str:
    found = _likest(
        act, [x for x in look.changes if (x.at, x.attribute, look.service) == _place(act)]
    )
    if found is None:
        return "inspected: no such change"
    util = f"util {dict(look.utilisation).get(act.step)}%"
    return f"inspected{_unlike(act, found)}" + ("" if util == reason else f" {util}")


def _place(act: TraceEntry) -> tuple[int, str, str]:
    return act.step, act.action, act.target


def _likest(act: TraceEntry, found: Sequence[_Real]) -> _Real | None:
    """Of several changes in one minute, the one that the trace shows."""
    return min(found, key=lambda real: not _alike(act, real), default=None)


def _alike(act: TraceEntry, real: AuditedAct | ServiceChange) -> bool:
    return (real.before, real.after) == (act.before, act.after)


def _unlike(act: TraceEntry, real: AuditedAct | ServiceChange) -> str:
    """How far it really went, where that is not what the trace says."""
    if _alike(act, real):
        return ""
    return f" {percent(real.before, real.after):+d}%"
