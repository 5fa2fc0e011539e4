"""The application: OpenEnv's routes behind the guard, tables, and the page for people."""

from __future__ import annotations

import argparse
import gc
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import uvicorn
from fastapi import FastAPI

from chaosops.client.openenv_core import ConcurrencyConfig, HTTPEnvServer
from chaosops.client.wire import ChaosOpsAction, ChaosOpsObservation, ChaosOpsState
from chaosops.core.errors import BadInput
from chaosops.server.answers import add_answers
from chaosops.server.environment import ChaosOpsEnvironment
from chaosops.server.evaluation_mode import EvaluationEnvironment, EvaluationGate, Submissions
from chaosops.server.guard import MAX_FRAME_BYTES, Guard, on_socket
from chaosops.server.observation_response import write_observations_with_orjson
from chaosops.server.seats import table_routes
from chaosops.server.tables import Lobby

_DESCRIPTION = (
    "Incidents for teams of AI agents, as an OpenEnv environment. An episode lives on a WebSocket: "
    "`/ws` for whoever drives all four roles, `/seat` for one role of a table."
)


@dataclass(frozen=True)
class Settings:
    """``submissions``: evaluation mode, which serves them and nothing else."""

    max_sessions: int = 256
    idle_timeout_s: float = 600.0
    web: bool = True
    submissions: Submissions | None = None


class _Sessions(HTTPEnvServer):  # type: ignore[misc]
    """A session that a WebSocket opened is that socket's alone. OpenEnv keeps others out of those
    that were joined by their id only: an agent that knows the id could reset or close the rest."""

    async def _create_session(self) -> Any:
        created = await super()._create_session()
        if on_socket.get():
            self._session_websocket_attachments.add(created[0])
        return created


def build_app(settings: Settings | None = None) -> FastAPI:
    settings = settings or Settings()
    write_observations_with_orjson()
    # The version is that of OpenEnv's HTTP interface, which its validator reads here.
    app = FastAPI(title="ChaosOps AI", version="1.0.0", description=_DESCRIPTION)
    submissions = settings.submissions
    episodes = _Sessions(
        ChaosOpsEnvironment if submissions is None else partial(EvaluationEnvironment, submissions),
        ChaosOpsAction,
        ChaosOpsObservation,
        env_name="chaosops",
        state_cls=ChaosOpsState,
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=settings.max_sessions, session_timeout=settings.idle_timeout_s
        ),
    )
    episodes.register_routes(app)
    if submissions is None:
        app.include_router(table_routes(Lobby(settings.max_sessions, settings.idle_timeout_s)))
        if settings.web and find_spec("chaosops.web.routes") is not None:
            from chaosops.web.routes import build_router

            app.include_router(build_router())
    add_answers(app)
    app.add_middleware(Guard, idle_timeout_s=settings.idle_timeout_s)
    if submissions is not None:
        app.add_middleware(EvaluationGate)
    return app


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until stopped. Port 0 takes a free one; the line printed says which."""
    listener = _listen(host, port)
    config = uvicorn.Config(
        build_app(settings),
        log_level="warning",
        access_log=False,
        ws_max_size=MAX_FRAME_BYTES,
        # Deflating an observation takes longer than making it.
        ws_per_message_deflate=False,
        # A client that thinks for minutes answers no ping meanwhile; the guard ends idle sessions.
        ws_ping_timeout=settings.idle_timeout_s,
        timeout_graceful_shutdown=3,
    )
    # What is loaded stays: the collector need not look through it again and again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    shown = f"[{host}]" if ":" in host else host
    print(f"chaosops serves on http://{shown}:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    listener = None
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)  # who comes before we are ready waits
    except (OSError, OverflowError) as error:
        if listener is not None:
            listener.close()
        reason = getattr(error, "strerror", None) or error
        raise BadInput(
            f"cannot listen on {host} port {port}: {reason}; choose another --host or --port"
        ) from None
    return listener


def main(words: Sequence[str] | None = None) -> None:
    """The ``server`` script that OpenEnv's tools start; ``chaosops serve`` has more options."""
    parser = argparse.ArgumentParser(prog="server", description=_DESCRIPTION)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    args: Any = parser.parse_args(words)
    try:
        serve(Settings(), args.host, args.port)
    except BadInput as error:
        sys.exit(f"server: {error}")
