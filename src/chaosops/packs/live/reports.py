"""What was measured in a live episode, from what its run noted."""

from __future__ import annotations

from typing import NamedTuple

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
    watched: float
    """Seconds after the incident was resolved, 0 if nobody looked."""
    sick: int
    """Looks in these seconds at which a service was not well."""
    watched_void: float
    """How many of these seconds do not count."""

    @property
    def is_void(self) -> bool:
        return self.void_seconds > VOID_SHARE * max(1, self.seconds)

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
        if self.is_void:
            told.append("That is too much: this run is void.")
        if self.starts > 1:
            told.append(f"The company was started {self.starts} times until the fault showed.")
        if self.is_durable is not None:
            lasted = "stayed" if self.is_durable else "did not stay"
            told.append(f"The company {lasted} well for {self.watched:g} seconds after that.")
        return told


def report_of(episode: Episode) -> LiveReport:
    first, last = episode.observed[0], episode.observed[-1]
    began, ended = first["seen"], last["seen"]
    after = last.get("after", {})
    thought = [entry["thought_s"] for entry in episode.observed[1:]]
    return LiveReport(
        ended["served"] - began["served"],
        ended["lost"] - began["lost"],
        sum(entry["seconds"] for entry in episode.observed),
        sum(entry["void_seconds"] for entry in episode.observed),
        sum(thought) / len(thought) if thought else 0.0,
        first.get("starts", 1),
        after.get("seconds", 0.0),
        after.get("sick", 0),
        after.get("void_seconds", 0),
    )
