"""Defects of the server: the client gets one sentence, the log the traceback."""

from __future__ import annotations

import logging
from types import TracebackType

from chaosops.core.errors import ChaosOpsError

_log = logging.getLogger(__name__)


class ServerMistake(ChaosOpsError):
    """A defect of the server, not of the request."""


class MistakesLogged:
    """OpenEnv would send the text of any exception to the client, and log nothing."""

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, ChaosOpsError):
            _log.error("an episode failed", exc_info=error)
            raise ServerMistake("the server made a mistake; its log has the details") from None


mistakes_logged = MistakesLogged()
