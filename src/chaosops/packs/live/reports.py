"""What was measured in a live episode, from what its run noted."""

from __future__ import annotations

from typing import NamedTuple

from chaosops.core.episode import Episode
from chaosops.live.window import VOID_SHARE


class LiveReport(NamedTuple):
    served: int
    lost: int
    seconds: int
    void_seconds: int
    starts: int
    watched: float
    """Seconds after the incident was resolved, 0 if nobody looked."""
    sick: int
    """Looks in these seconds at which a service was not well."""
    watched_void: int
    """How many of these seconds the host disturbed."""

    @property
    def is_void(self) -> bool:
        return self.void_seconds > VOID_SHARE * max(1, self.seconds)

    @property
    def is_durable(self) -> bool | None:
        """None if nobody looked, or if the host may have been the reason."""
        if not self.watched or (self.sick and self.watched_void > VOID_SHARE * self.watched):
            return None
        return self.sick == 0

    def sentences(self) -> list[str]:
        told = [
            f"{self.lost:,} of {self.served:,} requests of users failed during the episode.",
            f"The host disturbed {self.void_seconds} of {self.seconds} seconds.",
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
    return LiveReport(
        ended["served"] - began["served"],
        ended["lost"] - began["lost"],
        ended["seconds"],
        ended["void_seconds"],
        first.get("starts", 1),
        after.get("seconds", 0.0),
        after.get("sick", 0),
        after.get("void_seconds", 0),
    )
