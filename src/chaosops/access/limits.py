"""Every limit of a server: its default, and the option that changes it.

A limit for all clients together is ``--max-NAME``; what one client may have of it is
``--max-NAME-per-client``. Refusals name these options.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from chaosops.core.errors import BadInput

_MOST = 1_000_000
# Where a request that comes too fast holds the option that would admit it.
TOO_FAST = "chaosops.too_fast"


def _limit(default: int, help_text: str) -> Any:
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True)
class Limits:
    sessions: int = _limit(256, "sessions at once")
    sessions_per_client: int = _limit(128, "of them for one client")
    tables: int = _limit(256, "tables open at once")
    tables_per_client: int = _limit(32, "of them for one client")
    seats: int = _limit(32, "people who play on the page at once")
    seats_per_client: int = _limit(8, "of them for one client")
    episodes: int = _limit(16, "episodes that the page plays at once")
    episodes_per_client: int = _limit(8, "of them for one client")
    model_episodes: int = _limit(8, "of the page's episodes, those that a model plays")
    model_episodes_per_client: int = _limit(4, "of them for one client")
    requests: int = _limit(
        100, "HTTP requests a second, and as many new WebSockets; more are delayed"
    )
    requests_per_client: int = _limit(25, "of them for one client; two seconds' worth at once")
    connections: int = _limit(1024, "open connections")
    connections_per_client: int = _limit(320, "of them for one client")

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
