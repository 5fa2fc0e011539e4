"""The pages and the files that they load."""

from __future__ import annotations

import json
import os
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from chaosops.access.protect import is_framed
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import ROLE_NAMES
from chaosops.report.templating import templates
from chaosops.roles.view import VISIBILITY
from chaosops.rubrics import standard
from chaosops.version import VERSION

if TYPE_CHECKING:
    from starlette.requests import Request

_STATIC = Path(__file__).with_name("static")
_HTML = "text/html; charset=utf-8"
_FOREVER = "public, max-age=31536000, immutable"
_REVALIDATE = "no-cache"
_NAMES = {
    "roles": ROLE_NAMES,
    "sees": {role: sorted(channels) for role, channels in VISIBILITY.items()},
    "rubrics": [rubric.name for rubric in standard().rubrics],
}


# Where visitors find the source and the documentation. There are no such places by default.
SOURCE_VARIABLE = "CHAOSOPS_WEB_SOURCE"
DOCS_VARIABLE = "CHAOSOPS_WEB_DOCS"


def _link(variable: str) -> str:
    address = os.environ.get(variable, "")
    if address and not address.startswith(("https://", "http://")):
        raise BadInput(f"{variable} must be an address with https:// or http://, got {address!r}")
    return address


class Document(NamedTuple):
    """A page or a report, ready to be sent."""

    kind: str
    body: bytes

    def response(self, request: Request) -> Response:
        tag = f'"{blake2b(self.body, digest_size=8).hexdigest()}"'
        headers = {"Cache-Control": _REVALIDATE, "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(self.body, media_type=self.kind, headers=headers)


class Pages:
    """A template in ``templates/pages`` is a page: it gets an address, a link in the navigation
    and the script of its own name.

    The address of a file is ``static/DIGEST/name``. Browsers keep it forever, as another version
    has another digest. Modules import each other by relative names, so they share the digest.
    """

    def __init__(self) -> None:
        self._static = StaticFiles(directory=_STATIC)
        digest = blake2b(digest_size=6)
        for path in sorted(_STATIC.iterdir()):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
        self._digest = digest.hexdigest()
        self._templates = templates("chaosops.web")
        found = self._templates.list_templates(filter_func=lambda name: name.startswith("pages/"))
        names = sorted(
            (Path(name).stem for name in found), key=lambda name: (name != "index", name)
        )
        self._navigation = [
            (name, "" if name == "index" else name, self._label(name)) for name in names
        ]
        self.by_path = {
            path: Document(_HTML, self._render(f"pages/{name}.html", "./", name))
            for name, path, _ in self._navigation
        }

    def missing(self, path: str) -> Response:
        """Links are relative, as a proxy may serve the pages below a prefix."""
        body = self._render("missing.html", "../" * path.count("/") or "./", None)
        return Response(body, 404, {"Cache-Control": _REVALIDATE}, _HTML)

    def page(self, template: str, home: str, **content: object) -> Document:
        """A page about one thing of many, such as a case. It is not in the navigation."""
        return Document(_HTML, self._render(template, home, None, **content))

    async def static(self, path: str, request: Request) -> Response:
        digest, _, name = path.rpartition("/")
        response = await self._static.get_response(name, request.scope)
        response.headers["Cache-Control"] = _FOREVER if digest == self._digest else _REVALIDATE
        return response

    def _label(self, name: str) -> str:
        template = self._templates.get_template(f"pages/{name}.html")
        return "".join(template.blocks["nav"](template.new_context()))

    def _render(self, template: str, home: str, page: str | None, **content: object) -> bytes:
        text = self._templates.get_template(template).render(
            page=page,
            home=home,
            files=f"{home}static/{self._digest}",
            navigation=self._navigation,
            names=json.dumps(_NAMES),
            version=VERSION,
            source=_link(SOURCE_VARIABLE),
            docs=_link(DOCS_VARIABLE),
            framed=is_framed(),
            **content,
        )
        return text.encode()
