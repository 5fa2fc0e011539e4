"""The reward for resolving the incident, and the costs of mistakes."""

from __future__ import annotations

from chaosops.core.events import Events

FAST_STEP = 8
EARLY_CAUSE_STEP = 3


class ResolutionRubric:
    name = "resolution"

    def score(self, events: Events) -> dict[str, float]:
        """
        >>> ResolutionRubric().score(Events(step=3, resolved=True))
        {'resolved': 100.0, 'fast': 10.0}
        """
        components: dict[str, float] = {}
        if events.resolved:
            components["resolved"] = 100.0
            if events.step <= FAST_STEP:
                components["fast"] = 10.0
        if events.wrong_fix:
            components["wrong_fix"] = -50.0
        if events.miscommunication is not None:
            components["miscommunication"] = -20.0
        if events.cause_named and events.step <= EARLY_CAUSE_STEP:
            components["root_cause"] = 30.0
        if events.out_of_time:
            components["unresolved"] = -60.0
        return components
