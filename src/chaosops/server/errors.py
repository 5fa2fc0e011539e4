"""Errors of the server. Clients get one sentence for each."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from chaosops.core.errors import BadInput, ChaosOpsError

_log = logging.getLogger(__name__)


class ServerMistake(ChaosOpsError):
    """A bug in the server, not an error in the request."""


class Refusal(BadInput):
    """What a client cannot do now. ``code`` names it for programs."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class NoEpisode(ChaosOpsError):
    """A step in a session that was not reset."""

    def __init__(self) -> None:
        super().__init__(
            "no episode is running here: send reset first. A session lives on a WebSocket (/ws); "
            "a plain HTTP request starts and ends with an environment of its own"
        )


@contextmanager
def mistakes_logged() -> Iterator[None]:
    """For a bug, the client gets one sentence and the log gets the traceback. OpenEnv would send
    the text of any exception to the client and log nothing."""
    try:
        yield
    except ChaosOpsError:
        raise
    except Exception:
        _log.exception("an episode failed")
        raise ServerMistake("the server made a mistake; its log has the details") from None


def in_one_line(errors: Sequence[Any]) -> str:
    """The first error of pydantic, and how many more there are. Without the input, because not
    every input can be quoted.

    >>> in_one_line([{"loc": ("seed",), "msg": "Input should be a valid integer"}])
    'seed: Input should be a valid integer'
    """
    place = ".".join(map(str, errors[0]["loc"]))
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return ": ".join(filter(None, (place, errors[0]["msg"]))) + more
