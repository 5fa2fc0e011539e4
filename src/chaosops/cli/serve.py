"""``chaosops serve``: the OpenEnv server, tables for teams, and the page for people."""

from __future__ import annotations

import argparse

from chaosops.core.errors import MissingExtra


def execute(args: argparse.Namespace) -> int:
    try:
        from chaosops.access.options import read_access, read_limits
        from chaosops.server.app import Settings, serve
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("chaosops"):
            raise
        raise MissingExtra("serving", str(error.name), "server") from None
    settings = Settings(
        idle_timeout_s=args.idle_timeout,
        request_timeout_s=args.request_timeout,
        web=not args.no_web,
        limits=read_limits(args),
        access=read_access(args),
    )
    serve(settings, args.host, args.port)
    return 0
