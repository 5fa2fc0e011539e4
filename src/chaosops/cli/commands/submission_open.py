"""``chaosops submission open``: the owner of a private split lets somebody be measured on it."""

from __future__ import annotations

from chaosops.cli.options import Count, Json, Names, ResultsFolder, SecretFile, Seed, Split
from chaosops.cli.output import print_result
from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder
from chaosops.core.vocabulary import Role
from chaosops.evaluation.secret import read_secret
from chaosops.evaluation.submission import (
    Submission,
    new_token,
    read_role,
    token_digest,
    write_submission,
)
from chaosops.packs import read_tier
from chaosops.policies.registry import load_policy


def execute(
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
        name: of the results
        seeds: episodes a tier
        seed_start: the first seed
        series: submissions of one series play the same episodes
        roles: that the submission plays, or all
        partners: who plays the others
    """
    secret = read_secret(secret_file)
    token = new_token()
    plan = Submission(
        name=name,
        split=split or "test",
        tiers=tuple(dict.fromkeys(read_tier(tier) for tier in tiers)),
        seeds=seeds,
        first_seed=seed_start,
        series=series,
        roles=_roles(roles),
        partners=partners,
        commitment=secret.commitment,
        token_sha256=token_digest(token),
    )
    plan.scenarios(secret)
    if load_policy(partners).sees_truth:
        raise BadInput(f"{partners} knows the truth and would tell it; choose other partners")
    place = write_submission(open_folder(results, "--results"), plan)
    episodes = len(plan.tiers) * seeds
    lines = [
        f"{episodes} episodes, each once; results come to {place}",
        f"token {token}",
        "give the token to whoever is measured; it is not kept here",
    ]
    opened = {"token": token, "episodes": episodes, "results": str(place)}
    print_result(opened, lines, as_json=json)


def _roles(names: tuple[str, ...]) -> tuple[Role, ...]:
    if names == ("all",):
        return tuple(Role)
    wanted = {read_role(name) for name in names}
    return tuple(role for role in Role if role in wanted)
