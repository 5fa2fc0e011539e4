"""The live company as the arena's physics knows it."""

from __future__ import annotations

from chaosops.core.dice import Dice, key_of
from chaosops.live.topology import SERVICES
from chaosops.packs.arena.company import Call, Company

_USERS = 2400.0  # requests a minute
_UTILISATION = (0.40, 0.16)  # of a service in the middle of the day: at least, and drawn on top
_DAY = 48  # minutes of a wave


def fixed_company(key: int) -> Company:
    """The services are the same for every key. How busy they are is drawn, as in the arena."""
    dice = Dice(key_of(key, "company"))
    names = tuple(spec.name for spec in SERVICES)
    calls = tuple(
        tuple(sorted(_call(spec.kind, names.index(callee)) for callee in spec.calls))
        for spec in SERVICES
    )
    external = tuple(_USERS if spec.kind == "edge" else 0.0 for spec in SERVICES)
    load = list(external)
    callers: list[list[int]] = [[] for _ in names]
    for i, out in enumerate(calls):
        for callee, fanout, _ in out:
            load[callee] += load[i] * fanout
            callers[callee].append(i)
    low, drawn = _UTILISATION
    return Company(
        key,
        names,
        tuple(spec.kind for spec in SERVICES),
        calls,
        external,
        tuple(spec.replicas for spec in SERVICES),
        tuple(
            load[i] / (spec.replicas * (low + drawn * dice.unit()))
            for i, spec in enumerate(SERVICES)
        ),
        tuple(float(spec.work_ms) for spec in SERVICES),
        tuple(load),
        dice.below(_DAY),
        tuple(tuple(call.callee for call in out) for out in calls),
        tuple(map(tuple, callers)),
        tuple(_main_caller(i, calls, load) for i in range(len(names))),
    )


def _call(caller: str, callee: int) -> Call:
    """How often, and how much of the callee's trouble becomes the caller's."""
    kind = SERVICES[callee].kind
    if caller == "cache":
        return Call(callee, 0.2, 0.5)
    if kind == "queue":
        return Call(callee, 0.5, 0.15)  # handed over, not waited for
    if caller == "queue":
        return Call(callee, 1.0, 0.1)
    return Call(callee, 1.0, 0.35) if kind == "cache" else Call(callee, 0.6, 0.8)


def _main_caller(place: int, calls: tuple[tuple[Call, ...], ...], load: list[float]) -> int | None:
    sent = {
        i: load[i] * call.fanout for i, out in enumerate(calls) for call in out if call[0] == place
    }
    return max(sent, key=lambda i: (sent[i], -i)) if sent else None
