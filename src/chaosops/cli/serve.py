"""``chaosops serve``: the OpenEnv server, tables for teams, and the page for people."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.files import open_folder
from chaosops.core.lock import locked
from chaosops.evaluation.secret import read_secret

if TYPE_CHECKING:
    from chaosops.server.evaluation_mode import Submissions


def execute(args: argparse.Namespace) -> int:
    try:
        from chaosops.server.app import Settings, serve
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("chaosops"):
            raise
        raise MissingExtra("serving", str(error.name), "server") from None
    with ExitStack() as stack:
        submissions = None
        if args.evaluation:
            submissions = _submissions(args, stack)
        elif args.secret_file or args.results:
            raise BadInput("--secret-file and --results belong to --evaluation")
        settings = Settings(args.max_sessions, args.idle_timeout, not args.no_web, submissions)
        serve(settings, args.host, args.port)
    return 0


def _submissions(args: argparse.Namespace, stack: ExitStack) -> Submissions:
    from chaosops.server.evaluation_mode import Submissions

    if not args.secret_file or not args.results:
        raise BadInput("--evaluation needs --secret-file FILE and --results FOLDER")
    secret = read_secret(args.secret_file)
    folder = open_folder(args.results, "--results")
    stack.enter_context(locked(folder, "--results"))
    return Submissions(folder, secret, args.command_line)
