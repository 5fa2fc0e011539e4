"""The application: OpenEnv's routes behind the guard, tables, and the page for people."""

from __future__ import annotations

import gc
import socket
from dataclasses import dataclass, field
from functools import partial

import uvicorn
from fastapi import FastAPI

from chaosops.access.limits import Limits, Quota
from chaosops.access.options import Access
from chaosops.access.protect import protect
from chaosops.client.openenv_core import ConcurrencyConfig
from chaosops.core.errors import BadInput
from chaosops.server.answers import ERROR_ANSWERS, add_answers
from chaosops.server.environment import ChaosOpsEnvironment
from chaosops.server.evaluation_mode import EvaluationEnvironment, EvaluationGate, Submissions
from chaosops.server.guard import MAX_FRAME_BYTES, Guard
from chaosops.server.listening import guarded_server
from chaosops.server.quiet_log import quiet_logs
from chaosops.server.seats import table_routes
from chaosops.server.sessions import Sessions, use_own_messages
from chaosops.server.tables import Lobby
from chaosops.server.wire_documents import asyncapi, describe_http
from chaosops.wire.openenv import ChaosOpsAction, ChaosOpsObservation, ChaosOpsState

_DESCRIPTION = (
    "Incidents for teams of AI agents, as an OpenEnv environment. An episode lives on a WebSocket: "
    "`/ws` for a client that plays all four roles, `/seat` for one role of a table."
)


@dataclass(frozen=True)
class Settings:
    """With ``submissions`` the server is in evaluation mode and serves nothing else."""

    idle_timeout_s: float = 600.0
    web: bool = True
    limits: Limits = field(default_factory=Limits)
    access: Access = field(default_factory=Access)
    submissions: Submissions | None = None


def build_app(settings: Settings | None = None) -> FastAPI:
    settings = settings or Settings()
    use_own_messages()
    # The version is that of OpenEnv's HTTP interface, which its validator reads here.
    app = FastAPI(
        title="ChaosOps AI",
        version="1.0.0",
        description=_DESCRIPTION,
        # Both pages would load scripts from another host. /openapi.json has the same content.
        docs_url=None,
        redoc_url=None,
        responses=ERROR_ANSWERS,
    )
    limits, submissions = settings.limits, settings.submissions
    episodes = Sessions(
        Quota("sessions", limits),
        ChaosOpsEnvironment if submissions is None else partial(EvaluationEnvironment, submissions),
        ChaosOpsAction,
        ChaosOpsObservation,
        env_name="chaosops",
        state_cls=ChaosOpsState,
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=limits.sessions, session_timeout=settings.idle_timeout_s
        ),
    )
    episodes.register_routes(app)
    app.get("/asyncapi.json", tags=["Schema"], summary="The messages on WebSockets")(asyncapi)
    if submissions is None:
        app.include_router(table_routes(Lobby(Quota("tables", limits), settings.idle_timeout_s)))
        if settings.web:
            from chaosops.web.routes import Settings as WebSettings
            from chaosops.web.routes import build_router

            app.include_router(build_router(WebSettings(limits=limits)))
    add_answers(app)
    describe_http(app)
    app.add_middleware(Guard, idle_timeout_s=settings.idle_timeout_s)
    if submissions is not None:
        app.add_middleware(EvaluationGate)
    protect(app, settings.access, limits)
    return app


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until stopped. Port 0 takes a free one; the line printed says which."""
    app, proxies = build_app(settings), settings.access.trusted_networks
    listener = _listen(host, port)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        ws_max_size=MAX_FRAME_BYTES,
        # Deflating an observation takes longer than making it.
        ws_per_message_deflate=False,
        # A busy client may answer no ping for minutes; the guard ends idle sessions.
        ws_ping_timeout=settings.idle_timeout_s,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies,
        timeout_graceful_shutdown=3,
    )
    quiet_logs()
    server = guarded_server(config, settings.limits, settings.access)
    # All objects made so far stay in use, so the garbage collector can skip them.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    shown = f"[{host}]" if ":" in host else host
    print(f"chaosops serves on http://{shown}:{listener.getsockname()[1]}", flush=True)
    server.run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # Clients that connect before the server is ready wait in the backlog.
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(
            f"cannot listen on {host} port {port}: {reason}; choose another --host or --port"
        ) from None
