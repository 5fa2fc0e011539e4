"""The files of the page, read once, with the headers that belong to them."""

from __future__ import annotations

import gzip
import os
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.requests import Request

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_PLACEHOLDER = b"{{static}}"
_HOME = b"{{home}}"
_FOREVER = "public, max-age=31536000, immutable"
_ASK_FIRST = "no-cache"

# Who may show the page in a frame, as Content-Security-Policy writes it: a hosting site
# that embeds its visitors' view has to be named.
FRAME_VARIABLE = "CHAOSOPS_WEB_FRAME_ANCESTORS"


class File(NamedTuple):
    kind: str
    body: bytes
    packed: bytes
    tag: str


class Pages:
    """``static/DIGEST/name`` may be kept forever: another version has another digest, and the
    modules of a page, which import each other by relative names, all come from one."""

    def __init__(self) -> None:
        sources = {item.name: item.read_bytes() for item in _files(files(__package__) / "static")}
        digest = blake2b(digest_size=6)
        for name, body in sorted(sources.items()):
            digest.update(name.encode() + b"\0" + body)
        self.digest = digest.hexdigest()
        where = f"static/{self.digest}".encode()
        self._files = {
            name: _file(name, body.replace(_PLACEHOLDER, where) if name.endswith(".html") else body)
            for name, body in sources.items()
        }

    def page(self, name: str, request: Request) -> Response:
        return _answer(self._files[f"{name}.html"], request, _ASK_FIRST)

    def missing(self, path: str) -> Response:
        """Relative links, from wherever the mistyped address leads: a proxy may serve the page
        below a prefix of its own."""
        home = b"../" * path.count("/") or b"./"
        body = self._files["missing.html"].body.replace(_HOME, home)
        return Response(body, 404, {"Cache-Control": _ASK_FIRST}, self._files["missing.html"].kind)

    def static(self, path: str, request: Request) -> Response:
        digest, _, name = path.rpartition("/")
        file = self._files.get(name)
        if file is None or file.kind == _KINDS[".html"]:
            return Response("no such file\n", 404, media_type="text/plain")
        return _answer(file, request, _FOREVER if digest == self.digest else _ASK_FIRST)


def security_headers() -> dict[str, str]:
    ancestors = os.environ.get(FRAME_VARIABLE, "'self'")
    return {
        "Content-Security-Policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            "connect-src 'self'; form-action 'self'; base-uri 'none'; "
            f"frame-ancestors {ancestors}"
        ),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
    }


def _files(folder: Traversable) -> list[Traversable]:
    return [item for item in folder.iterdir() if item.name.endswith(tuple(_KINDS))]


def _file(name: str, body: bytes) -> File:
    kind = _KINDS[name[name.rindex(".") :]]
    tag = f'"{blake2b(body, digest_size=8).hexdigest()}"'
    return File(kind, body, gzip.compress(body, mtime=0), tag)


def _answer(file: File, request: Request, keep: str) -> Response:
    headers = {"Cache-Control": keep, "ETag": file.tag, "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    body = file.body
    if "gzip" in request.headers.get("accept-encoding", ""):
        body = file.packed
        headers["Content-Encoding"] = "gzip"
    return Response(body, media_type=file.kind, headers=headers)
