"""Where a live incident looks different from the simulated one, when the team is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chaosops.core.episode import Episode
from chaosops.core.telemetry import ServiceReading
from chaosops.core.vocabulary import Health, Role
from chaosops.env import Env
from chaosops.evaluation.estimates import Figure, mean_figure
from chaosops.evaluation.leaks import mask_numbers
from chaosops.roles.view import RoleView, project


def first_view(episode: Episode) -> RoleView:
    """All that any role sees of the company stands in the view of Oversight."""
    return project(Env.again(episode).world.public, Role.OVERSIGHT)


_CHANNELS: dict[str, Callable[[RoleView], Any]] = {
    "trace": lambda view: [entry._replace(id=0) for entry in view.trace],
    "sick services": lambda view: {one.service for one in view.health if one.health},
    "services that page": lambda view: {
        one.service for one in view.alerts if one.severity == "page"
    },
    "wordings of errors in the logs": lambda view: {
        (line.service, mask_numbers(line.text)) for line in view.logs if line.level == "ERROR"
    },
}
CHANNELS = tuple(_CHANNELS)


def same_channels(live: Episode, simulated: Episode) -> dict[str, bool]:
    """What is equal, number for number or name for name."""
    views = first_view(live), first_view(simulated)
    return {name: of(views[0]) == of(views[1]) for name, of in _CHANNELS.items()}


_GAUGES: dict[str, Callable[[ServiceReading], float]] = {
    "errors in % at the worst service": lambda one: one.error_pct,
    "latency in ms there": lambda one: one.latency_ms,
    "busy in % there": lambda one: one.cpu_pct,
}


def gauges(episodes: Sequence[Episode]) -> dict[str, Figure]:
    """Means over the episodes, and how many services are sick."""
    views = [first_view(episode) for episode in episodes]
    worst = [max(view.metrics, key=_badness) for view in views]
    found = {
        name: mean_figure([of(one) for one in worst], least=0.0) for name, of in _GAUGES.items()
    }
    sick = [sum(one.health > Health.HEALTHY for one in view.metrics) for view in views]
    return {"sick services": mean_figure(sick, least=0.0), **found}


def _badness(reading: ServiceReading) -> tuple[int, float, int]:
    return int(reading.health), reading.error_pct, reading.latency_ms
