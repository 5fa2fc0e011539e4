"""``chaosops submission``: the owner of a private split opens and closes submissions."""

from __future__ import annotations

import argparse

from chaosops.cli.output import print
from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder
from chaosops.core.lock import locked
from chaosops.core.vocabulary import Role
from chaosops.evaluation.secret import Secret, read_secret
from chaosops.evaluation.signature import SIGNATURE_NAME
from chaosops.evaluation.submission import (
    Submission,
    new_token,
    read_role,
    token_digest,
    write_submission,
)
from chaosops.packs import read_tier
from chaosops.policies.registry import load_policy


def execute(args: argparse.Namespace) -> int:
    secret = read_secret(args.secret_file)
    return (_open if args.action == "open" else _close)(args, secret)


def _open(args: argparse.Namespace, secret: Secret) -> int:
    token = new_token()
    plan = Submission(
        name=args.name,
        split=args.split,
        tiers=tuple(dict.fromkeys(read_tier(name) for name in args.tiers)),
        seeds=args.seeds,
        first_seed=args.seed_start,
        series=args.series,
        roles=_roles(args.roles),
        partners=args.partners,
        commitment=secret.commitment,
        token_sha256=token_digest(token),
    )
    plan.scenarios(secret)
    if load_policy(plan.partners).sees_truth:
        raise BadInput(f"{plan.partners} knows the truth and would tell it; choose other partners")
    place = write_submission(open_folder(args.results, "--results"), plan)
    print(f"{len(plan.tiers) * plan.seeds} episodes, each once; results come to {place}")
    print(f"token {token}")
    print("give the token to whoever is measured; it is not kept here")
    return 0


def _roles(names: list[str]) -> tuple[Role, ...]:
    if names == ["all"]:
        return tuple(Role)
    wanted = {read_role(name) for name in names}
    return tuple(role for role in Role if role in wanted)


def _close(args: argparse.Namespace, secret: Secret) -> int:
    from chaosops.server.submission_results import write_results
    from chaosops.server.submission_run import SubmissionRun

    def write(run: SubmissionRun) -> None:
        write_results(run, secret, args.command_line)

    place = args.results / args.name
    if (place / SIGNATURE_NAME).exists():
        raise BadInput(f"submission {args.name} is complete: {place} holds its signed results")
    try:
        with locked(args.results, "--results"):  # a running server has it
            run = SubmissionRun(place, secret, load_policy, write)
            run.close()
    except OSError as error:
        raise BadInput(f"cannot write {error.filename}: {error.strerror or error}") from None
    print(f"{len(run.episodes)} episodes, {len(run.given_up)} of them given up: {run.place}")
    return 0
