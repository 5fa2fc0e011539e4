"""Errors as HTTP answers: a status and one sentence under ``detail``, never a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from chaosops.access.answers import detail_of
from chaosops.access.limits import OverQuota
from chaosops.core.errors import ChaosOpsError
from chaosops.server.errors import NoEpisode, ServerMistake, in_one_line

if TYPE_CHECKING:
    from fastapi import FastAPI, Request


class Problem(BaseModel):
    detail: str


_TOLD = {
    400: "The request holds text that cannot be written as JSON, or names an unknown task",
    404: "Nothing has that name",
    409: "No episode is running: a plain HTTP request has an environment of its own",
    413: "The request is too large",
    422: "An option or a field is wrong; detail says which",
    401: "The server asks for its token",
    403: "Pages of that origin may not use the server",
    415: "The body or its Content-Type is not JSON",
    421: "The server is not known by that host name",
    429: "A limit of the server is reached; detail says which",
}
# For the description of the API: what any route may answer besides its own answers.
ERROR_ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "model": Problem} for status, text in _TOLD.items()
}
_STATUS = {NoEpisode: 409, OverQuota: 429, ServerMistake: 500}


def add_answers(app: FastAPI) -> None:
    @app.exception_handler(ChaosOpsError)
    async def refuse(_: Request, error: ChaosOpsError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, _STATUS.get(type(error), 422))

    @app.exception_handler(RequestValidationError)
    async def explain(_: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"detail": in_one_line(error.errors())}, 422)

    @app.exception_handler(HTTPException)
    async def pass_on(request: Request, error: HTTPException) -> JSONResponse:
        detail = detail_of(request.url.path, request.method, error)
        if isinstance(detail, list):
            detail = in_one_line(detail)
        return JSONResponse({"detail": detail}, error.status_code, headers=error.headers)
