"""What to do about a server that does not let a WebSocket in."""

from __future__ import annotations

_CURES = {
    401: "the server asks for its token: set CHAOSOPS_TOKEN, or give {option}",
    429: "the server has too many requests at the moment: try again in a few seconds",
}


def cure_of(error: BaseException | None, option: str) -> str:
    """Words to put after those of a WebSocket's handshake that failed; empty if there are none."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return f"; {_CURES[status].format(option=option)}" if status in _CURES else ""
