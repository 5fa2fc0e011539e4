"""The cost of a fix that breaks another service."""

from __future__ import annotations

from chaosops.core.events import Events


class CascadeRubric:
    name = "cascade"

    def score(self, events: Events) -> dict[str, float]:
        """
        >>> CascadeRubric().score(Events(step=1, second_order=True))
        {'second_order': -40.0}
        """
        return {"second_order": -40.0} if events.second_order else {}
