"""Puts the gate and the pace before an application: before its error pages too."""

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
        """The host is checked first: only who means this server learns whom it allows."""
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
