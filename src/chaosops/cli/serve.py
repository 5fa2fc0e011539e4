"""``chaosops serve``: the OpenEnv server, tables for teams, and the page for people."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.files import open_folder
from chaosops.core.lock import locked
from chaosops.evaluation.secret import read_secret

if TYPE_CHECKING:
    from chaosops.server.evaluation_mode import Submissions


def execute(args: argparse.Namespace) -> int:
    try:
        from chaosops.access.options import read_access, read_limits
        from chaosops.server.app import Settings, serve
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("chaosops"):
            raise
        raise MissingExtra("serving", str(error.name), "server") from None
    with evaluation_mode(args) as submissions:
        settings = Settings(
            idle_timeout_s=args.idle_timeout,
            request_timeout_s=args.request_timeout,
            web=not args.no_web,
            limits=read_limits(args),
            access=read_access(args),
            submissions=submissions,
        )
        serve(settings, args.host, args.port)
    return 0


@contextmanager
def evaluation_mode(args: argparse.Namespace) -> Iterator[Submissions | None]:
    """The submissions to serve, and their folder held; None for the open mode."""
    if not args.evaluation:
        if args.secret_file or args.results:
            raise BadInput("--secret-file and --results belong to --evaluation")
        yield None
        return
    from chaosops.server.evaluation_mode import Submissions

    if not args.secret_file or not args.results:
        raise BadInput("--evaluation needs --secret-file FILE and --results FOLDER")
    secret = read_secret(args.secret_file)
    folder = open_folder(args.results, "--results")
    with locked(folder, "--results"):
        yield Submissions(folder, secret, args.command_line)
