"""The routes of tables: open one, ask for its state, take a seat over a WebSocket."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any, Literal

from fastapi import APIRouter, HTTPException
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from chaosops.access.asgi import current_client
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.vocabulary import Role
from chaosops.server.episode import ServedEpisode
from chaosops.server.errors import Refusal, in_one_line, mistakes_logged
from chaosops.server.messages import ActMessage, SitMessage
from chaosops.server.options import EpisodeOptions, read_options
from chaosops.server.strict_json import read_message
from chaosops.server.tables import Lobby, Table
from chaosops.wire.openenv import Debrief, RoleName

_EXAMPLE = '{"type": "act", "data": {"action": "noop"}}'
_WAITING_MESSAGES = 64  # to a client that does not read them
_CLOSING_S = 5.0
_SIT_S = 20.0  # the time in which a connection must name its seat


class TableRequest(EpisodeOptions):
    turn_timeout_s: float | None = Field(
        default=None, gt=0, description="of each wait; the server's idle time-out is the most"
    )


class OpenedTable(BaseModel):
    table: str
    tokens: dict[Role, str]
    turn_timeout_s: float


class TableState(BaseModel):
    table: str
    status: Literal["waiting", "running", "over", "abandoned"]
    step: int
    limit: int
    role: RoleName | None
    seated: list[RoleName]
    message: str | None
    debrief: Debrief | None


def table_routes(lobby: Lobby) -> APIRouter:
    router = APIRouter(tags=["Tables"])

    @router.post("/tables", summary="Open a table: an episode for four players")
    async def open_table(request: TableRequest) -> OpenedTable:
        """The tokens are secret: each lets its holder play one role and see that role's view."""
        client = current_client.get()
        lobby.quota.require(client)
        given = request.model_dump(exclude_unset=True, exclude={"turn_timeout_s"})
        timeout_s = min(request.turn_timeout_s or lobby.keep_s, lobby.keep_s)
        table = lobby.open(ServedEpisode(read_options(given)), timeout_s, client)
        return OpenedTable(table=table.id, tokens=table.tokens, turn_timeout_s=timeout_s)

    @router.get("/tables/{table}", summary="The state of a table", response_model=TableState)
    async def table_state(table: str) -> JSONResponse:
        found = lobby.tables.get(table)
        if found is None:
            raise HTTPException(404, "there is no such table, or it ended long ago")
        return JSONResponse(found.describe())

    @router.websocket("/seat")
    async def seat(socket: WebSocket) -> None:
        await socket.accept()
        await SeatLine(socket).serve(lobby)

    return router


class SeatLine:
    """The WebSocket of one seat. Messages to it wait in a queue, so no seat can block another."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(_WAITING_MESSAGES)

    def post(self, kind: str, data: dict[str, Any]) -> None:
        self._put(json.dumps({"type": kind, "data": data}))

    def close(self) -> None:
        self._put(None)

    async def _refuse(self, code: str, message: str) -> None:
        """A client that sends many bad messages waits until it has read the answers."""
        await self._queue.join()
        self.post("error", {"code": code, "message": message})

    def _put(self, message: str | None) -> None:
        if self._queue.full():  # the client stopped reading
            while not self._queue.empty():
                self._queue.get_nowait()
            message = None
        self._queue.put_nowait(message)

    async def serve(self, lobby: Lobby) -> None:
        reader = asyncio.create_task(self._read(lobby))
        writer = asyncio.create_task(self._write())
        await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
        if not writer.done():
            self.close()
            await asyncio.wait({writer}, timeout=_CLOSING_S)
        for task in (reader, writer):
            task.cancel()
        await asyncio.gather(reader, writer, return_exceptions=True)

    async def _write(self) -> None:
        with suppress(WebSocketDisconnect, RuntimeError, OSError):  # the client left
            while (message := await self._queue.get()) is not None:
                await self._socket.send_text(message)
                self._queue.task_done()
            await self._socket.close()

    async def _read(self, lobby: Lobby) -> None:
        place: tuple[Table, Role] | None = None
        try:
            while True:
                received = await self._receive(_SIT_S if place is None else None)
                if received is None:
                    return
                try:
                    with mistakes_logged():
                        content = read_message(received.get("text"), _EXAMPLE)
                        if place is None:
                            place = _find_seat(lobby, content)
                            place[0].sit(place[1], self)
                        else:
                            _act(*place, self, content)
                except ChaosOpsError as error:
                    code = getattr(error, "code", "VALIDATION_ERROR")
                    await self._refuse(code, str(error))
                    if code == "NO_SUCH_SEAT":
                        return
        finally:
            if place is not None:
                place[0].leave(place[1], self)

    async def _receive(self, timeout_s: float | None) -> dict[str, Any] | None:
        """A frame. None if the client left, or did not name its seat in time."""
        try:
            async with asyncio.timeout(timeout_s):
                message = dict(await self._socket.receive())
        except TimeoutError:
            text = "nobody sat down: send {type: sit, data: {token: …}}"
            self.post("error", {"code": "IDLE_TIMEOUT", "message": text})
            return None
        return message if message["type"] == "websocket.receive" else None


def _find_seat(lobby: Lobby, content: dict[str, Any]) -> tuple[Table, Role]:
    try:
        token = SitMessage.model_validate(content).data.token
    except ValidationError:
        raise BadInput('first say who you are: {"type": "sit", "data": {"token": "…"}}') from None
    place = lobby.seats.get(token)
    if place is None:
        raise Refusal(
            "NO_SUCH_SEAT", "this token is for no seat, or its table ended long ago; open a table"
        )
    return place


def _act(table: Table, role: Role, line: SeatLine, content: dict[str, Any]) -> None:
    kind = str(content.get("type", ""))
    if kind != "act":
        raise Refusal("UNKNOWN_TYPE", f"a seat sends act, not {kind[:40]!r}")
    try:
        said = ActMessage.model_validate(content).data
    except ValidationError as problem:
        raise BadInput(in_one_line(problem.errors())) from None
    table.act(role, said, line)
