"""The control plane's routes, on a Unix socket in the folder of the run.

Changes need a proof of their author. Reading needs none: the log is public and proves itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaosops.core.errors import ChaosOpsError, MissingExtra
from chaosops.core.files import unwritable
from chaosops.live.control.director import Director
from chaosops.live.control.keys import SCHEME
from chaosops.live.control.plane import Plane, Refused
from chaosops.live.wire import observation_to_wire

if TYPE_CHECKING:
    from aiohttp import web

_SHUTDOWN_S = 0.5
_LARGEST_BODY = 16_384
_FAILED = 500

Asked = Callable[[str, dict[str, Any]], Awaitable[Any]]


class Server:
    def __init__(self, plane: Plane, director: Director) -> None:
        self._plane = plane
        self._director = director
        self._runner: web.AppRunner | None = None

    async def start(self, address: Path) -> None:
        try:
            from aiohttp import web
        except ImportError:
            raise MissingExtra("a live company", "aiohttp", "live") from None
        app = web.Application(client_max_size=_LARGEST_BODY)
        asked: dict[str, Asked] = {
            "/changes": self._change,
            "/remedies": self._plane.remedy,
            "/quarantine": self._plane.quarantine,
            "/minutes": self._director.begin,
            "/errands": self._director.errand,
        }
        for path, carry_out in asked.items():
            app.router.add_post(path, self._signed(carry_out))
        app.router.add_post("/operator", self._answering(self._operator))
        app.router.add_post("/feed", self._answering(self._feed))
        app.router.add_get("/log", self._answering(self._log))
        app.router.add_get("/observation", self._answering(self._observation))
        app.router.add_get("/status", self._answering(self._status))
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUTDOWN_S)
        await self._runner.setup()
        try:
            await web.UnixSite(self._runner, address).start()
            address.chmod(0o600)
        except OSError as error:  # the path of a socket has at most 107 characters
            raise unwritable(address, error, "the socket") from None

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def _signed(self, carry_out: Asked) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def answer(request: web.Request) -> Any:
            proof = request.headers.get("Authorization", "").removeprefix(f"{SCHEME} ")
            author, content = self._plane.author(request.path, await request.read(), proof)
            return await carry_out(author, content)

        return self._answering(answer)

    def _answering(
        self, handle: Callable[[web.Request], Awaitable[Any]]
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        """An error of ours is an answer of one line."""
        from aiohttp import web

        async def answer(request: web.Request) -> web.Response:
            try:
                return web.json_response(await handle(request))
            except Refused as refused:
                return web.json_response({"error": str(refused)}, status=refused.status)
            except ChaosOpsError as error:
                return web.json_response({"error": str(error)}, status=_FAILED)

        return answer

    async def _change(self, author: str, content: dict[str, Any]) -> None:
        await self._plane.change(author, content)

    async def _operator(self, request: web.Request) -> Any:
        return {"public_key": self._plane.claim(await request.read())}

    async def _feed(self, request: web.Request) -> None:
        self._plane.write_feed(await request.read())

    async def _log(self, request: web.Request) -> Any:
        log = self._plane.log
        return {"lines": log.lines(), "head": log.head(request.query.get("nonce", ""))}

    async def _observation(self, request: web.Request) -> Any:
        return observation_to_wire(await self._plane.observe())

    async def _status(self, request: web.Request) -> Any:
        plane = self._plane
        return {
            "minute": plane.minute,
            "quarantined": sorted(plane.quarantined),
            "refusals": plane.refusals,
        }
