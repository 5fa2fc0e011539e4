"""The cost of time: each unresolved step costs more than the one before."""

from __future__ import annotations

from chaosops.core.events import Events


class MttrRubric:
    name = "mttr"

    def score(self, events: Events) -> dict[str, float]:
        """
        >>> MttrRubric().score(Events(step=4)), MttrRubric().score(Events(step=4, resolved=True))
        ({'elapsed': -8.0}, {})
        """
        return {} if events.resolved else {"elapsed": -2.0 * events.step}
