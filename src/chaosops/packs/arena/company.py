"""A generated company: its services, their calls and their load."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from chaosops.core.dice import Dice, key_of
from chaosops.packs.arena.names import WORDS

KINDS = ("edge", "api", "queue", "worker", "cache", "store")  # callers before callees
_LATENCY_MS = {"edge": 20, "api": 35, "queue": 8, "worker": 90, "cache": 3, "store": 12}


class Call(NamedTuple):
    callee: int
    fanout: float  # calls per request
    weight: float  # how much of the callee's trouble becomes the caller's


class Company(NamedTuple):
    """Everything that does not change during an episode. Services stand in call order:
    every call goes from a lower to a higher index."""

    key: int
    services: tuple[str, ...]
    kinds: tuple[str, ...]
    calls: tuple[tuple[Call, ...], ...]
    external: tuple[float, ...]  # requests per minute from outside
    replicas: tuple[int, ...]
    unit: tuple[float, ...]  # requests per minute one replica can serve
    base_latency: tuple[float, ...]
    load: tuple[float, ...]  # offered load at the middle of the wave
    phase: int
    callees_of: tuple[tuple[int, ...], ...]
    callers_of: tuple[tuple[int, ...], ...]
    main_caller: tuple[int | None, ...]  # the one that sends most

    def wave(self, step: int) -> float:
        """The load of a minute: a slow triangle and a little noise."""
        return _wave(self.key, self.phase, step)

    def usual_utilisation(self, service: int, step: int) -> float:
        """What a service shows at a minute when nothing is wrong."""
        capacity = self.replicas[service] * self.unit[service]
        return self.load[service] * self.wave(step) / capacity

    def usual_util_pct(self, service: int, step: int) -> int:
        return round(100 * self.usual_utilisation(service, step))

    def callees(self, service: int) -> tuple[int, ...]:
        return self.callees_of[service]

    def callers(self, service: int) -> tuple[int, ...]:
        return self.callers_of[service]


_SWING, _NOISE = 0.12, 0.02  # of the load, up and down
LOWEST_WAVE = 1.0 - _SWING - _NOISE / 2


@lru_cache(maxsize=16384)  # some minutes of all companies that are played side by side
def _wave(key: int, phase: int, step: int) -> float:
    at = (step + phase) % 48
    triangle = (at if at < 24 else 48 - at) / 12.0 - 1.0
    noise = (key_of(key, "wave", step) & 1023) / 1023.0 - 0.5
    return 1.0 + _SWING * triangle + _NOISE * noise


def found_company(key: int, size: int, names: str, attempt: int = 0) -> Company:
    dice = Dice(key_of(key, "company", attempt))
    kinds = _kinds(dice, size)
    calls = _wire(dice, kinds)
    external = tuple(4000.0 + dice.below(4000) if kind == "edge" else 0.0 for kind in kinds)
    load = list(external)
    for i, out in enumerate(calls):
        for callee, fanout, _ in out:
            load[callee] += load[i] * fanout
    replicas = tuple(dice.between(5, 12) for _ in kinds)
    unit = tuple(load[i] / (replicas[i] * (0.40 + 0.16 * dice.unit())) for i in range(len(kinds)))
    latency = tuple(_LATENCY_MS[kind] * (0.7 + 0.6 * dice.unit()) for kind in kinds)
    services = _name(dice, kinds, names)
    callees = tuple(tuple(call.callee for call in out) for out in calls)
    callers: list[list[int]] = [[] for _ in kinds]
    sends: list[dict[int, float]] = [{} for _ in kinds]
    for i, out in enumerate(calls):
        for callee, fanout, _ in out:
            callers[callee].append(i)
            sends[callee][i] = load[i] * fanout
    return Company(
        key,
        services,
        kinds,
        calls,
        external,
        replicas,
        unit,
        latency,
        tuple(load),
        dice.below(48),
        callees,
        tuple(map(tuple, callers)),
        tuple(max(sent, key=lambda i: (sent[i], -i)) if sent else None for sent in sends),
    )


def _kinds(dice: Dice, size: int) -> tuple[str, ...]:
    counts = dict.fromkeys(KINDS, 0)
    counts["edge"] = 1 if size < 9 else 2
    counts["store"] = 1 + size // 7
    counts["cache"] = 1 + size // 14
    counts["queue"] = size // 10 if size >= 10 else dice.below(2) if size >= 7 else 0
    counts["worker"] = counts["queue"]
    counts["api"] = size - sum(counts.values())
    return tuple(kind for kind in KINDS for _ in range(counts[kind]))


def _wire(dice: Dice, kinds: tuple[str, ...]) -> tuple[tuple[Call, ...], ...]:
    """Every service but the edges is called by somebody; nobody calls upwards."""
    at = {kind: [i for i, k in enumerate(kinds) if k == kind] for kind in KINDS}
    out: list[dict[int, Call]] = [{} for _ in kinds]

    def call(caller: int, callee: int) -> None:
        kind = kinds[callee]
        if kinds[caller] == "cache":
            fanout, weight = 0.2, 0.5
        elif kind == "queue":
            fanout, weight = 0.3 + 0.3 * dice.unit(), 0.15  # handed over, not waited for
        elif kinds[caller] == "queue":
            fanout, weight = 1.0, 0.1
        elif kind == "cache":
            fanout, weight = 0.8 + 0.4 * dice.unit(), 0.35
        else:
            fanout, weight = 0.4 + 0.5 * dice.unit(), 0.7 + 0.3 * dice.unit()
        out[caller].setdefault(callee, Call(callee, fanout, weight))

    for api in at["api"]:
        above = [i for i in at["api"] if i < api]
        caller = dice.pick(at["edge"]) if not above or dice.below(3) else dice.pick(above)
        call(caller, api)
    for kind, callers in (
        ("queue", at["api"]),
        ("worker", at["queue"] or at["api"]),
        ("cache", at["api"]),
        ("store", at["api"] + at["worker"] + at["cache"]),
    ):
        for callee in at[kind]:
            call(dice.pick(callers), callee)
    for api in at["api"]:
        call(api, dice.pick(at["cache"] + at["store"] + at["queue"]))
    for worker in at["worker"]:
        call(worker, dice.pick(at["store"]))
    for cache in at["cache"]:
        call(cache, dice.pick(at["store"]))
    return tuple(tuple(sorted(calls.values())) for calls in out)


def _name(dice: Dice, kinds: tuple[str, ...], names: str) -> tuple[str, ...]:
    pools = {kind: dice.shuffled(WORDS[names][kind]) for kind in KINDS}
    used = dict.fromkeys(KINDS, 0)
    named = []
    for kind in kinds:
        pool = pools[kind]
        number, place = divmod(used[kind], len(pool))
        named.append(pool[place] + (f"-{number + 1}" if number else ""))
        used[kind] += 1
    return tuple(named)
