"""A log that no client can flood: the same message at most once a second, with its count."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

# Loggers whose messages a client can cause at will.
LOGGERS = (
    "uvicorn.error",
    "asyncio",
    "chaosops.server.listening",
    "chaosops.server.errors",
    "chaosops.web.policy_cache",
    "chaosops.web.episode_pool",
    "openenv",
)
_REMEMBERED = 256
# Mistakes of clients, which uvicorn logs with a useless traceback.
_MISTAKES = ("Invalid UTF-8 sequence",)


class OnceASecond(logging.Filter):
    def __init__(self, every_s: float = 1.0, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._every_s = every_s
        self._clock = clock
        self._said: dict[str, tuple[float, int]] = {}  # when, and how many were left out since

    def filter(self, record: logging.LogRecord) -> bool:
        if str(record.msg).startswith(_MISTAKES):
            record.exc_info = None
        words = f"{record.name} {str(record.msg).partition(chr(10))[0]}"
        now = self._clock()
        when, left_out = self._said.get(words, (now - self._every_s, 0))
        if now - when < self._every_s:
            self._said[words] = (when, left_out + 1)
            return False
        if len(self._said) >= _REMEMBERED:
            self._said.clear()
        self._said[words] = (now, 0)
        if left_out:
            record.msg = f"{record.msg} (and {left_out} more times since the last such line)"
        return True


def quiet_logs() -> None:
    once = OnceASecond()
    for name in LOGGERS:
        logging.getLogger(name).addFilter(once)
