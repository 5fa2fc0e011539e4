"""The body of a request that a visitor sends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from chaosops.core.errors import BadInput

if TYPE_CHECKING:
    from starlette.requests import Request

_BODY_BYTES = 10_000


async def json_body(request: Request, example: str) -> object:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _BODY_BYTES:
            raise BadInput(f"send at most {_BODY_BYTES} bytes")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise BadInput(f"send a JSON object such as {example}") from None
