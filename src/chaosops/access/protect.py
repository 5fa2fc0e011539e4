"""Puts the gate and the pace before an application: before its error pages too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.middleware.cors import CORSMiddleware

from chaosops.access.gate import Access, Gate
from chaosops.access.headers import Headed
from chaosops.access.pace import Paced

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from chaosops.access.limits import Limits


def protect(app: Starlette, access: Access, limits: Limits) -> None:
    build = app.build_middleware_stack

    def protected() -> Any:
        inside: Any = Gate(build(), access)
        if access.allowed_origins:
            inside = CORSMiddleware(
                inside,
                allow_origins=access.allowed_origins,
                allow_methods=["GET", "POST"],
                allow_headers=["Authorization", "Content-Type"],
            )
        return Headed(Paced(inside, limits))

    app.build_middleware_stack = protected  # type: ignore[method-assign]
