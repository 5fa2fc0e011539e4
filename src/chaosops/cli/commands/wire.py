"""``chaosops wire``: documents for clients in other languages."""

from __future__ import annotations

from chaosops.cli.options import Folder
from chaosops.cli.output import print
from chaosops.core.errors import MissingExtra


def execute(folder: Folder, /) -> None:
    """
    Args:
        folder: where schema.json, openapi.json and asyncapi.json are written
    """
    try:
        from chaosops.server.app import build_app
        from chaosops.server.wire_documents import write_documents
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("chaosops"):
            raise
        raise MissingExtra("describing the wire", str(error.name), "server") from None
    for path in write_documents(folder, build_app()):
        print(path)
