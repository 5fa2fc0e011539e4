"""``chaosops submission``: the owner of a private split lets somebody play it."""

from __future__ import annotations

from chaosops.cli.options import (
    CommandLine,
    Count,
    Json,
    Names,
    ResultsFolder,
    SecretFile,
    Seed,
    Split,
)
from chaosops.cli.output import print, print_result
from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder
from chaosops.core.lock import locked
from chaosops.core.vocabulary import Role
from chaosops.evaluation import submission
from chaosops.evaluation.secret import read_secret, version_of
from chaosops.evaluation.signature import SIGNATURE_NAME
from chaosops.packs import read_tiers
from chaosops.policies.registry import load_policy
from chaosops.rollout import Team


def open(
    name: str,
    /,
    *,
    secret_file: SecretFile,
    results: ResultsFolder,
    split: Split = None,
    tiers: Names = ("hard",),
    seeds: Count = 200,
    seed_start: Seed = 0,
    series: str = "main",
    roles: Names = ("oversight",),
    partners: str = "heuristic",
    json: Json = False,
) -> None:
    """
    Args:
        name: name of the submission and its results
        tiers: tiers to play
        seeds: episodes for each tier
        seed_start: the first seed
        series: submissions of one series play the same episodes
        roles: roles that the submission plays, or all
        partners: policy of the other roles
    """
    secret = read_secret(secret_file)
    token = submission.new_token()
    plan = submission.Submission(
        name=name,
        split=split or "test",
        tiers=tuple(read_tiers(tiers, "--tiers")),
        seeds=seeds,
        first_seed=seed_start,
        series=series,
        roles=_played(roles),
        partners=partners,
        commitment=secret.commitment,
        token_sha256=submission.token_digest(token),
        version=version_of(split or "test"),
    )
    (pack,) = {scenario.pack for scenario in plan.scenarios(secret)}
    _check_partners(partners, pack)
    place = submission.write_submission(open_folder(results, "--results"), plan)
    episodes = len(plan.tiers) * seeds
    lines = [
        f"{episodes} episodes, each once; results come to {place}",
        f"token {token}\ngive the token to the player; it is not stored here",
    ]
    opened = {"token": token, "episodes": episodes, "results": str(place)}
    print_result(opened, lines, as_json=json)


def _check_partners(partners: str, pack: str) -> None:
    team = Team.of(load_policy(partners))
    team.require_trained_on(pack)
    if team.policies[Role.SRE].sees_truth:
        raise BadInput(f"{partners} knows the truth and would reveal it; choose other partners")


def _played(roles: Names) -> tuple[Role, ...]:
    wanted = set(Role) if roles == ("all",) else set(map(submission.read_role, roles))
    return tuple(role for role in Role if role in wanted)


def close(
    name: str, /, *, secret_file: SecretFile, results: ResultsFolder, command_line: CommandLine
) -> None:
    """Give up the episodes that were not played. The server must have stopped."""
    from chaosops.server.submission_run import SubmissionRun, write_results

    secret = read_secret(secret_file)

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
