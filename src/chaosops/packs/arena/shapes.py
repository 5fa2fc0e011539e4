"""The shapes of drawn faults: what they do, and where it shows."""

from __future__ import annotations

from typing import NamedTuple

from chaosops.packs.arena.mechanism import Modifiers, Shows


class Shape(NamedTuple):
    effect: Modifiers
    shows: Shows = Shows.HERE
    stock: str | None = None
    severity: float = 0.8
    growth: float = 0.05


# Damage that shows at the service and below it, and the joined effects that train knows.
TRAINED_SHAPES = (
    Shape(Modifiers(capacity=0.2)),
    Shape(Modifiers(errors=0.4)),
    Shape(Modifiers(latency=4.5)),
    Shape(Modifiers(inflow=2.8)),
    Shape(Modifiers(errors=0.3, latency=1.8)),
    Shape(Modifiers(capacity=0.25, latency=2.0)),
    Shape(Modifiers(errors=0.25, capacity=0.5)),
    Shape(Modifiers(capacity=0.3, latency=2.5), stock="memory", severity=0.55, growth=0.07),
    Shape(Modifiers(errors=0.35, latency=2.0), stock="disk", severity=0.55, growth=0.07),
    Shape(Modifiers(latency=1.8, outflow=4.0), Shows.BELOW),
    Shape(Modifiers(errors=0.35), Shows.BELOW),
    Shape(Modifiers(capacity=0.25), Shows.BELOW),
    Shape(Modifiers(latency=4.5), Shows.BELOW),
)
# Damage that shows at the callers, and effects that train never joins.
UNSEEN_SHAPES = (
    Shape(Modifiers(errors=0.35), Shows.ABOVE),
    Shape(Modifiers(capacity=0.25), Shows.ABOVE),
    Shape(Modifiers(latency=4.5), Shows.ABOVE),
    Shape(Modifiers(errors=0.25, latency=2.0), Shows.ABOVE),
    Shape(Modifiers(inflow=2.2, latency=2.5)),
    Shape(Modifiers(capacity=0.5, inflow=2.0)),
    Shape(Modifiers(errors=0.3, outflow=2.5)),
)
SHAPES = {"train": TRAINED_SHAPES, "unseen": UNSEEN_SHAPES}
