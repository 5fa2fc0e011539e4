"""``chaosops submission close``: what was not played is given up. Stop the server first."""

from __future__ import annotations

from chaosops.cli.options import CommandLine, ResultsFolder, SecretFile
from chaosops.cli.output import print
from chaosops.core.errors import BadInput
from chaosops.core.lock import locked
from chaosops.evaluation.secret import read_secret
from chaosops.evaluation.signature import SIGNATURE_NAME
from chaosops.policies.registry import load_policy


def execute(
    name: str, /, *, secret_file: SecretFile, results: ResultsFolder, command_line: CommandLine
) -> None:
    secret = read_secret(secret_file)
    from chaosops.server.submission_run import SubmissionRun, write_results

    def write(run: SubmissionRun) -> None:
        write_results(run, secret, command_line)

    place = results / name
    if (place / SIGNATURE_NAME).exists():
        raise BadInput(f"submission {name} is complete: {place} holds its signed results")
    try:
        with locked(results, "--results"):  # a running server has it
            run = SubmissionRun(place, secret, load_policy, write)
            run.close()
    except OSError as error:
        raise BadInput(f"cannot write {error.filename}: {error.strerror or error}") from None
    print(f"{len(run.episodes)} episodes, {len(run.given_up)} of them given up: {run.place}")
