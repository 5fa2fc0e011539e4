"""``chaosops submission open``: the owner of a private split lets somebody be measured on it."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.options import Json, Names, ResultsFolder, SecretFile, Split, whole
from chaosops.cli.output import print, print_json
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
    seeds: Annotated[int, whole(1, help="episodes a tier")] = 200,
    seed_start: Annotated[int, whole(0, help="the first seed")] = 0,
    series: Annotated[
        str, Parameter(help="submissions of one series play the same episodes")
    ] = "main",
    roles: Annotated[Names, Parameter(help="that the submission plays, or all")] = ("oversight",),
    partners: Annotated[str, Parameter(help="who plays the others")] = "heuristic",
    json: Json = False,
) -> int:
    """The results stand under NAME."""
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
    if json:
        print_json({"token": token, "episodes": episodes, "results": str(place)})
        return 0
    print(f"{episodes} episodes, each once; results come to {place}")
    print(f"token {token}")
    print("give the token to whoever is measured; it is not kept here")
    return 0


def _roles(names: tuple[str, ...]) -> tuple[Role, ...]:
    if names == ("all",):
        return tuple(Role)
    wanted = {read_role(name) for name in names}
    return tuple(role for role in Role if role in wanted)
