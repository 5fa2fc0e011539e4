"""Every limit of a server: its default, the option that changes it, and who has used how much.

A limit for all clients together is ``--max-NAME``; what one client may have of it is
``--max-NAME-per-client``. Refusals name these options.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from chaosops.core.errors import BadInput, ChaosOpsError

_MOST = 1_000_000
# The key in a request that came too fast: it holds the option that would admit the request.
TOO_FAST = "chaosops.too_fast"


def _limit(default: int, help_text: str) -> Any:
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True)
class Limits:
    sessions: int = _limit(256, "sessions at once")
    sessions_per_client: int = _limit(128, "the same for one client")
    tables: int = _limit(256, "tables open at once")
    tables_per_client: int = _limit(32, "the same for one client")
    seats: int = _limit(32, "people who play on the page at once")
    seats_per_client: int = _limit(8, "the same for one client")
    episodes: int = _limit(16, "episodes that the page plays at once")
    episodes_per_client: int = _limit(8, "the same for one client")
    model_episodes: int = _limit(8, "episodes that a model plays for the page")
    model_episodes_per_client: int = _limit(4, "the same for one client")
    requests: int = _limit(
        100, "HTTP requests a second, and as many new WebSockets; more are delayed"
    )
    requests_per_client: int = _limit(25, "the same for one client, with bursts of two seconds")
    connections: int = _limit(1024, "open connections")
    connections_per_client: int = _limit(320, "the same for one client")

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 1 <= value <= _MOST:
                raise BadInput(
                    f"{option_of(name)}: expected a whole number from 1 to {_MOST}, got {value}"
                )


def option_of(name: str) -> str:
    """
    >>> option_of("tables_per_client")
    '--max-tables-per-client'
    """
    return f"--max-{name.replace('_', '-')}"


class OverQuota(ChaosOpsError):
    """A quota is used up; the same request may succeed later."""


class Quota:
    """
    >>> seats = Quota("seats", Limits(seats_per_client=1))
    >>> seats.take("203.0.113.7")
    >>> seats.take("203.0.113.7")
    Traceback (most recent call last):
    chaosops.access.limits.OverQuota: this client has 1 of 1 seats; try again when one of them \
has ended, or start the server with a larger --max-seats-per-client
    """

    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self.most: int = getattr(limits, name)
        self.most_each: int = getattr(limits, f"{name}_per_client")
        self._by_client = Counter[str]()
        self._lock = Lock()

    @property
    def taken(self) -> int:
        return self._by_client.total()

    def require(self, client: str) -> None:
        """Raises ``OverQuota`` if there is no room."""
        things = self._name.replace("_", " ")
        mine = self._by_client[client]
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
            self._by_client[client] += 1

    def give_back(self, client: str) -> None:
        with self._lock:
            self._by_client -= Counter([client])  # one that has none left is forgotten
