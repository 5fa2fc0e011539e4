"""The files of the page, read once, with the headers that belong to them."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
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
_PARTS = ("head", "top", "foot")  # what several pages have in common: ``{{top}}`` is top.part
_MISSING = "missing.html"
_STATIC = b"{{static}}"
_HOME = b"{{home}}"
_FOREVER = "public, max-age=31536000, immutable"
_ASK_FIRST = "no-cache"


class File(NamedTuple):
    kind: str
    body: bytes
    packed: bytes
    tag: str


class Pages:
    """``static/DIGEST/name`` may be kept forever: another version has another digest, and the
    modules of a page, which import each other by relative names, all come from one."""

    def __init__(self) -> None:
        folder = files(__package__) / "static"
        sources = {item.name: item.read_bytes() for item in _files(folder)}
        parts = {part: (folder / f"{part}.part").read_bytes() for part in _PARTS}
        digest = blake2b(digest_size=6)
        for name, body in sorted({**sources, **parts}.items()):
            digest.update(name.encode() + b"\0" + body)
        self.digest = digest.hexdigest()
        for name in [name for name in sources if name.endswith(".html")]:
            sources[name] = self._assembled(name, sources[name], parts)
        self._files = {name: file_of(_kind(name), body) for name, body in sources.items()}

    def _assembled(self, name: str, body: bytes, parts: Mapping[str, bytes]) -> bytes:
        for part, text in parts.items():
            body = body.replace(b"{{" + part.encode() + b"}}\n", text)
        here = b'href="' + _HOME + name.removesuffix(".html").encode() + b'"'
        body = body.replace(here, here + b' aria-current="page"')
        body = body.replace(_STATIC, f"static/{self.digest}".encode())
        # The page for a mistyped address learns where home is when it is served.
        return body if name == _MISSING else body.replace(_HOME, b"./")

    def page(self, name: str, request: Request) -> Response:
        return answer_with(self._files[f"{name}.html"], request)

    def missing(self, path: str) -> Response:
        """Relative links, from wherever the mistyped address leads: a proxy may serve the page
        below a prefix of its own."""
        home = b"../" * path.count("/") or b"./"
        file = self._files[_MISSING]
        body = file.body.replace(_HOME, home)
        return Response(body, 404, {"Cache-Control": _ASK_FIRST}, file.kind)

    def static(self, path: str, request: Request) -> Response:
        digest, _, name = path.rpartition("/")
        file = self._files.get(name)
        if file is None or file.kind == _KINDS[".html"]:
            return Response("no such file\n", 404, media_type="text/plain")
        return answer_with(file, request, _FOREVER if digest == self.digest else _ASK_FIRST)


def _files(folder: Traversable) -> list[Traversable]:
    return [item for item in folder.iterdir() if item.name.endswith(tuple(_KINDS))]


def _kind(name: str) -> str:
    return _KINDS[name[name.rindex(".") :]]


def file_of(kind: str, body: bytes) -> File:
    """Ready to be sent, packed or not."""
    tag = f'"{blake2b(body, digest_size=8).hexdigest()}"'
    return File(kind, body, gzip.compress(body, mtime=0), tag)


def answer_with(file: File, request: Request, keep: str = _ASK_FIRST) -> Response:
    headers = {"Cache-Control": keep, "ETag": file.tag, "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    body = file.body
    if "gzip" in request.headers.get("accept-encoding", ""):
        body = file.packed
        headers["Content-Encoding"] = "gzip"
    return Response(body, media_type=file.kind, headers=headers)
