"""The server's bearer token: programs send a header, browsers a cookie."""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from pathlib import Path

from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_text

VARIABLE = "CHAOSOPS_TOKEN"
COOKIE = "chaosops_access"
SHORTEST = 16


class Token:
    def __init__(self, text: str) -> None:
        self._text = text.encode()
        # The cookie gives the same access, but the token cannot be read from it.
        self.cookie = hmac.new(self._text, b"chaosops page", sha256).hexdigest()

    def is_shown_by(self, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        for name, value in headers:
            if name == b"authorization":
                scheme, _, given = value.partition(b" ")
                if scheme.lower() == b"bearer" and self.is_right(given.strip()):
                    return True
            elif name == b"cookie" and self._is_right_cookie(value.decode("latin-1")):
                return True
        return False

    def is_right(self, given: bytes) -> bool:
        return hmac.compare_digest(given, self._text)

    def _is_right_cookie(self, header: str) -> bool:
        try:
            found = SimpleCookie(header).get(COOKIE)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self.cookie.encode())


def read_token(text: str | None, file: Path | None, what: str = "--token") -> str:
    """From an option, a file or the environment; empty if none is set."""
    if text is not None and file is not None:
        raise BadInput(f"give {what} or {what}-file, not both")
    if file is not None:
        text = read_text(file, f"{what}-file").strip()
        if not text:
            raise BadInput(f"{what}-file {file} is empty")
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
