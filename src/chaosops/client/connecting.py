"""The address of a server's WebSocket, and what to do when it refuses one."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from chaosops.access.tokens import token_headers
from chaosops.core.errors import BadInput
from chaosops.core.loopback import is_loopback

# A ValueError is a port or a proxy in the environment that is none; an ImportError is a kind of
# proxy that needs another package.
NOT_REACHED = (OSError, ValueError, ImportError)

_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}
_MAX_MESSAGE_BYTES = 4_000_000
_CURES = {
    401: "the server asks for its token: set CHAOSOPS_TOKEN, or give {option}",
    429: "the server has too many requests at the moment: try again in a few seconds",
}


def socket_url(url: str, path: str) -> str:
    """
    >>> socket_url("http://127.0.0.1:8000/", "/seat")
    'ws://127.0.0.1:8000/seat'
    """
    scheme, _, rest = url.partition("://")
    try:
        parts = urlsplit(f"http://{rest}")
        is_address = scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half of a bracket, or a port that is none
        is_address = False
    if not is_address:
        raise BadInput(f"{url!r} is no server's address; write one such as http://127.0.0.1:8000")
    return f"{_SCHEMES[scheme]}://{rest.rstrip('/')}{path}"


def socket_options(address: str, token: str | None) -> dict[str, Any]:
    """For ``connect`` of websockets. Loopback connections ignore proxy settings."""
    direct = {"proxy": None} if is_loopback(address) else {}
    return {
        "max_size": _MAX_MESSAGE_BYTES,
        "additional_headers": dict(token_headers(token)),
        **direct,
    }


def refusal(url: str, error: BaseException, option: str) -> str:
    """Why a server was not reached, and the cure where there is one."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    cure = f"; {_CURES[status].format(option=option)}" if status in _CURES else ""
    return f"cannot reach a ChaosOps server at {url}: {error}{cure}"
