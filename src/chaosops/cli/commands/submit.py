"""``chaosops submit``: play all episodes of a submission. Its owner gets the results."""

from __future__ import annotations

from chaosops.cli.options import Policy, PolicySeed, Url
from chaosops.cli.output import print
from chaosops.cli.progress import Progress
from chaosops.client.submission import play_submission
from chaosops.policies.registry import load_policy


def execute(*, url: Url, token: str, policy: Policy = "heuristic", seed: PolicySeed = 0) -> None:
    """
    Args:
        token: token of the submission, from its owner
    """
    player = load_policy(policy)
    with Progress() as progress:
        progress.update(policy, played := 0, None)
        for played, left in play_submission(url, token, player, seed):
            progress.update(policy, played, played + left)
    print(f"{played} played, 0 left: the submission is complete, its owner has the results")
