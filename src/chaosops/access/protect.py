"""Puts host checks, rate limits and token checks in front of an application."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.middleware.cors import CORSMiddleware

from chaosops.access.gate import Access, Gate, Hosts
from chaosops.access.headers import Headed
from chaosops.access.pace import Paced

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from chaosops.access.asgi import App
    from chaosops.access.limits import Limits


def protect(app: Starlette, access: Access, limits: Limits) -> None:
    build = app.build_middleware_stack

    def answering(inside: App) -> App:
        """The host is checked first, so that no other site learns which origins are allowed."""
        if access.allowed_origins:
            inside = CORSMiddleware(
                inside,
                allow_origins=access.allowed_origins,
                allow_methods=["GET", "POST"],
                allow_headers=["Authorization", "Content-Type"],
            )
        return Hosts(inside, access)

    def protected() -> Any:
        return Headed(Paced(answering(Gate(build(), access)), limits, answering))

    app.build_middleware_stack = protected  # type: ignore[method-assign]
