"""One act of a fleet agent in words: what the trace says, what its agent signed, and what an
inspection found."""

from __future__ import annotations

from functools import lru_cache

from chaosops.core.telemetry import (
    AuditedAct,
    AuditReport,
    Inspection,
    ServiceChange,
    TraceEntry,
)
from chaosops.roles.sight import percent


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
        found = [x for x in audit.acts if (x.at, x.attribute, x.target) == _place(act)]
        if not found:
            words.append("not signed")
        elif util >= 0:
            words.append(f"signed{_unlike(act, found[0])}")
        else:  # the order, in place of the number that the act claims
            order = "the same" if again else found[0].order
            words = [change, f"signed{_unlike(act, found[0])}, order: {order}"]
    if look is not None:
        words.append(_inspected_words(act, look, reason))
    return ", ".join(words)


def _inspected_words(act: TraceEntry, look: Inspection, reason: str) -> str:
    found = [x for x in look.changes if (x.at, x.attribute, look.service) == _place(act)]
    if not found:
        return "inspected: no such change"
    util = f"util {dict(look.utilisation).get(act.step)}%"
    return f"inspected{_unlike(act, found[0])}" + ("" if util == reason else f" {util}")


def _place(act: TraceEntry) -> tuple[int, str, str]:
    return act.step, act.action, act.target


def _unlike(act: TraceEntry, real: AuditedAct | ServiceChange) -> str:
    """How far it really went, where that is not what the trace says."""
    if (real.before, real.after) == (act.before, act.after):
        return ""
    return f" {percent(real.before, real.after):+d}%"
