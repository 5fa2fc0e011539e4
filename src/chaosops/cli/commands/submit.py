"""``chaosops submit``: play all episodes of a submission. Its owner gets the results."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.options import Policy, Seed, Url
from chaosops.cli.output import print
from chaosops.cli.progress import Progress
from chaosops.client.submission import play_submission
from chaosops.policies.registry import load_policy


def execute(
    *,
    url: Url,
    token: Annotated[str, Parameter(help="of the submission, from its owner")],
    policy: Policy = "heuristic",
    seed: Annotated[Seed, Parameter(help="for what the policy draws")] = 0,
) -> int:
    player = load_policy(policy)
    with Progress() as progress:
        progress.update(policy, played := 0, None)
        for played, left in play_submission(url, token, player, seed):
            progress.update(policy, played, played + left)
    print(f"{played} played, 0 left: the submission is complete, its owner has the results")
    return 0
