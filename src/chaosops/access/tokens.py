"""The server's bearer token: programs send a header, browsers a cookie."""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_text

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

VARIABLE = "CHAOSOPS_TOKEN"
COOKIE = "chaosops_access"
SHORTEST = 16


class Token:
    def __init__(self, text: str) -> None:
        self._text = text.encode()
        # The cookie gives the same access, but the token cannot be read from it.
        self.cookie = hmac.new(self._text, b"chaosops page", sha256).hexdigest()

    def is_shown_by(self, request: HTTPConnection) -> bool:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.is_right(given.strip()):
            return True
        cookie = request.cookies.get(COOKIE, "")
        return hmac.compare_digest(cookie.encode(), self.cookie.encode())

    def is_right(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._text)


def read_token(text: str | None, file: Path | None, what: str = "--token") -> str:
    """From an option, a file or the environment; empty if none is set."""
    if text is not None and file is not None:
        raise BadInput(f"give {what} or {what}-file, not both")
    if file is not None:
        text = read_text(file, f"{what}-file").strip()
        if not text:
            raise BadInput(f"{what}-file {file} is empty; write the token into it")
    if text is None:
        text = os.environ.get(VARIABLE, "")
        if not text:
            return ""
    if len(text) < SHORTEST or not text.isascii() or not text.isprintable() or " " in text:
        raise BadInput(
            f"a token has at least {SHORTEST} ASCII characters without spaces; make one with: "
            "python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    return text


def token_headers(token: str | None) -> Mapping[str, str]:
    """What a client sends. ``None``: the token of the environment, if set."""
    text = read_token(token or None, None)
    return {"Authorization": f"Bearer {text}"} if text else {}
