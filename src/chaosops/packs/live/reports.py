"""What was measured in a live episode, from what its run noted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from chaosops.core.episode import Episode
from chaosops.live.window import VOID_SHARE


class LiveReport(NamedTuple):
    served: int
    lost: int
    seconds: float
    """In which minutes passed. While somebody thinks, none does."""
    void_seconds: float
    thought_s: float
    """How long a turn was thought about, on average."""
    starts: int
    steps: int
    blind_steps: int
    """In which so much was void that nothing could be said of any service."""
    watched: float
    """Seconds after the incident was resolved, 0 if nobody looked."""
    sick: int
    """Looks in these seconds at which a service was not well."""
    watched_void: float
    """How many of these seconds do not count."""

    @property
    def is_void(self) -> bool:
        """Seconds of thought count on neither side, so blind steps count by themselves."""
        too_many = self.void_seconds > VOID_SHARE * max(1, self.seconds)
        return too_many or self.blind_steps > VOID_SHARE * self.steps

    @property
    def is_durable(self) -> bool | None:
        """None if nobody looked, or if the host disturbed too much of it."""
        if not self.watched or self.watched_void > VOID_SHARE * self.watched:
            return None
        return self.sick == 0

    def sentences(self) -> list[str]:
        told = [
            f"{self.lost:,} of {self.served:,} requests of users failed during the episode.",
            f"{self.void_seconds:g} of {self.seconds:g} seconds do not count: the host was busy.",
        ]
        if self.blind_steps:
            told.append(f"In {self.blind_steps} of {self.steps} steps no service could be judged.")
        if self.is_void:
            told.append("That is too much: this run is void.")
        if self.starts > 1:
            told.append(f"The company was started {self.starts} times until the fault showed.")
        if self.is_durable is not None:
            lasted = "stayed" if self.is_durable else "did not stay"
            told.append(f"The company {lasted} well for {self.watched:g} seconds after that.")
        return told


def report_of(episode: Episode) -> LiveReport:
    return report_from(episode.observed)


def report_from(observed: Sequence[Any]) -> LiveReport:
    first, last = observed[0], observed[-1]
    began, ended = first["seen"], last["seen"]
    after = last.get("after", {})
    thought = [entry["thought_s"] for entry in observed[1:]]
    blind = [entry["seen"]["blind"] for entry in observed[1:]]
    return LiveReport(
        ended["served"] - began["served"],
        ended["lost"] - began["lost"],
        sum(entry["seconds"] for entry in observed),
        sum(entry["void_seconds"] for entry in observed),
        sum(thought) / len(thought) if thought else 0.0,
        first.get("starts", 1),
        len(blind),
        sum(blind),
        after.get("seconds", 0.0),
        after.get("sick", 0),
        after.get("void_seconds", 0),
    )
