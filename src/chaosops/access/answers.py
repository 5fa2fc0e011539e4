"""Addresses that nobody serves, in one sentence under ``detail``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from chaosops.core.printable import short

if TYPE_CHECKING:
    from fastapi import FastAPI, Request


def detail_of(path: str, method: str, error: HTTPException) -> Any:
    """What a framework says in two words, said with the address. Other words stay."""
    if (error.status_code, error.detail) == (404, "Not Found"):
        return f"there is nothing at {short(path)}"
    if (error.status_code, error.detail) == (405, "Method Not Allowed"):
        return f"{short(path)} does not answer {method}"
    return error.detail


def add_plain_answers(app: FastAPI) -> None:
    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> JSONResponse:
        detail = detail_of(request.url.path, request.method, error)
        return JSONResponse({"detail": detail}, error.status_code, headers=error.headers)
