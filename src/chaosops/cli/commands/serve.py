"""``chaosops serve``: the OpenEnv server, tables for teams, and the page for people."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from chaosops.access.limits import Limits, option_of
from chaosops.access.options import Access
from chaosops.cli import main as chaosops
from chaosops.cli.options import CommandLine, ResultsFolder, SecretFile, SomeSeconds, whole
from chaosops.cli.real_time import permit_company
from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.files import open_folder
from chaosops.core.lock import locked
from chaosops.core.loopback import is_loopback
from chaosops.evaluation.secret import read_secret

if TYPE_CHECKING:
    from chaosops.server.evaluation_mode import Submissions

LIMITS, ACCESS = Limits(), Access()


def _limit_name(name: str) -> str:
    return option_of(name).removeprefix("--")


def execute(
    *,
    host: str = "127.0.0.1",
    port: Annotated[int, whole(0, 65_535)] = 8000,
    idle_timeout: Annotated[SomeSeconds, Parameter(metavar="SECONDS")] = 600.0,
    no_web: bool = False,
    limits: Annotated[Limits, Parameter(name="*", name_transform=_limit_name)] = LIMITS,
    access: Annotated[Access, Parameter(name="*")] = ACCESS,
    evaluation: bool = False,
    live: bool = False,
    secret_file: SecretFile | None = None,
    results: ResultsFolder | None = None,
    command_line: CommandLine,
) -> None:
    """
    Args:
        host: address to listen on
        port: port to listen on; 0 takes a free one
        idle_timeout: time after which a silent session is closed
        no_web: do not serve the page for people
        live: offer the pack live on the page, whose episodes start processes here (docs/live.md)
        evaluation: serve submissions on hidden seeds, and never send the truth
    """
    try:
        from chaosops.server.app import Settings, serve
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("chaosops"):
            raise
        raise MissingExtra("serving", str(error.name), "server") from None
    if not evaluation and (secret_file or results):
        raise BadInput("--secret-file and --results belong to --evaluation; add it")
    if evaluation and not (secret_file and results):
        raise BadInput("--evaluation needs --secret-file FILE and --results FOLDER")
    if live:
        _permit_live(host, evaluation=evaluation)
    with _submissions(secret_file, results, command_line) as submissions:
        settings = Settings(
            idle_timeout_s=idle_timeout,
            web=not no_web,
            limits=limits,
            access=access,
            submissions=submissions,
        )
        serve(settings, host, port)


def _permit_live(host: str, *, evaluation: bool) -> None:
    from chaosops.live.needs import require_live

    if evaluation or not is_loopback(f"http://{host}"):
        raise BadInput(
            "--live starts processes for whoever opens the page; leave out --evaluation, and "
            "--host too, so that only this machine can"
        )
    require_live()
    permit_company()


@contextmanager
def _submissions(
    secret_file: Path | None, results: Path | None, command_line: str
) -> Iterator[Submissions | None]:
    """Lock the folder of submissions and yield them. Yields None outside evaluation mode."""
    if not secret_file or not results:
        yield None
        return
    from chaosops.server.evaluation_mode import Submissions

    secret = read_secret(secret_file)
    with locked(open_folder(results, "--results"), "--results"):
        yield Submissions(results, secret, command_line)


def main() -> int:
    """The ``server`` script that OpenEnv's tools start."""
    return chaosops(["serve", *sys.argv[1:]])
