"""Quotas: how many sessions, tables, seats or episodes there may be, in all and for each client."""

from __future__ import annotations

from threading import Lock

from chaosops.access.limits import Limits, option_of
from chaosops.core.errors import ChaosOpsError


class OverQuota(ChaosOpsError):
    """A quota is used up; the same request may succeed later."""


class Quota:
    """
    >>> seats = Quota("seats", Limits(seats_per_client=1))
    >>> seats.take("203.0.113.7")
    >>> seats.take("203.0.113.7")
    Traceback (most recent call last):
    chaosops.access.quotas.OverQuota: this client has 1 of 1 seats; try again when one of them \
has ended, or start the server with a larger --max-seats-per-client
    """

    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self.most: int = getattr(limits, name)
        self.most_each: int = getattr(limits, f"{name}_per_client")
        self.taken = 0
        self._by_client: dict[str, int] = {}
        self._lock = Lock()

    def require(self, client: str) -> None:
        """Raises ``OverQuota`` if there is no room."""
        things = self._name.replace("_", " ")
        mine = self._by_client.get(client, 0)
        later = "try again when one of them has ended, or start the server with a larger"
        if mine >= self.most_each:
            option = option_of(f"{self._name}_per_client")
            raise OverQuota(
                f"this client has {mine} of {self.most_each} {things}; {later} {option}"
            )
        if self.taken >= self.most:
            option = option_of(self._name)
            raise OverQuota(f"all {self.most} {things} are taken; {later} {option}")

    def take(self, client: str) -> None:
        with self._lock:
            self.require(client)
            self.taken += 1
            self._by_client[client] = self._by_client.get(client, 0) + 1

    def give_back(self, client: str) -> None:
        with self._lock:
            self.taken -= 1
            self._by_client[client] -= 1
            if not self._by_client[client]:
                del self._by_client[client]
