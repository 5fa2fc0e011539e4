"""The connections of this process to all endpoints: one event loop, one pool, one pace a model."""

from __future__ import annotations

import asyncio
import os
import threading
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

from chaosops.core.errors import BadInput
from chaosops.core.loopback import PROXY_VARIABLES, is_loopback
from chaosops.policies.llm.pace import Pace

if TYPE_CHECKING:
    import httpx

KEPT_S = 2.0  # many servers close an idle connection after 5 s, maybe while a request is sent


class Connections:
    """The loop runs in a thread of its own, so that the caller may run a loop too, as notebooks
    do."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self._pools: dict[tuple[str, ...], httpx.AsyncClient] = {}
        self._paces: dict[tuple[str, str, int], Pace] = {}
        threading.Thread(target=_serve, args=(self.loop,), daemon=True).start()

    def pool(self, url: str) -> httpx.AsyncClient:
        """One for all servers. Loopback requests ignore proxy settings and have a pool of their
        own, and so has each setting of the proxies."""
        direct = is_loopback(url)
        proxies = () if direct else _proxies()
        if proxies not in self._pools or self._pools[proxies].is_closed:
            self._pools[proxies] = _connect(direct)
        return self._pools[proxies]

    def pace(self, url: str, model: str, most: int) -> Pace:
        """Servers limit requests by model."""
        return self._paces.setdefault((url, model, most), Pace(most))


_STARTING = threading.Lock()
_current: Connections | None = None


def connections() -> Connections:
    """Those of this process. A forked process has a copy of the loop but not its thread."""
    global _current
    with _STARTING:
        if _current is None or _current.pid != os.getpid():
            _current = Connections()
        return _current


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()


def _proxies() -> tuple[str, ...]:
    names = (name for name in os.environ if name.lower().endswith("_proxy"))
    return ("proxies", *(f"{name}={os.environ[name]}" for name in sorted(names)))


def _connect(direct: bool) -> httpx.AsyncClient:
    import httpx

    try:
        return httpx.AsyncClient(
            headers={"Content-Type": "application/json", "Accept-Encoding": "identity"},
            # The pace of each server limits its connections.
            limits=httpx.Limits(max_connections=None, keepalive_expiry=KEPT_S),
            trust_env=not direct,
            # A cookie would connect an episode with those before it.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )
    except (httpx.InvalidURL, ValueError, ImportError) as error:
        raise BadInput(
            f"the proxy of {PROXY_VARIABLES} in the environment cannot be used: {error}"
        ) from None
