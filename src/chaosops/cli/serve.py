"""``chaosops serve``: the OpenEnv server, tables for teams, and the page for people."""

from __future__ import annotations

import argparse

from chaosops.core.errors import MissingExtra


def execute(args: argparse.Namespace) -> int:
    try:
        from chaosops.server.app import Settings, serve
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("chaosops"):
            raise
        raise MissingExtra("serving", str(error.name), "server") from None
    settings = Settings(args.max_sessions, args.idle_timeout, not args.no_web)
    serve(settings, args.host, args.port)
    return 0
