"""The player's side of a submission: every episode of the owner's plan, once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chaosops.client.connection import Connection
from chaosops.core.dice import key_of
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.policies.llm.trained_on import trained_on
from chaosops.policies.protocol import DecisionRequest, Policy, request_key
from chaosops.wire.decisions import sent_decision
from chaosops.wire.views import read_rules, read_view


def play_submission(
    url: str, token: str, policy: Policy, seed: int = 0
) -> Iterator[tuple[int, int]]:
    """Play to the end of the submission. After each episode, yields how many were played here and
    how many are left. ``seed`` is for the policy's random draws."""
    if policy.sees_truth:
        raise BadInput(
            f"policy {policy.name} needs the truth, which a submission does not get; "
            "name another policy"
        )
    played, left = 0, 1
    try:
        with Connection(url, "/ws") as server:
            while left:
                _play_episode(server, token, policy, key_of("submission", seed, played))
                played, left = played + 1, server.ask("state")["episodes_left"] or 0
                yield played, left
    except BadInput as error:
        raise BadInput(f"{url}: {error}") from None


def _play_episode(server: Connection, token: str, policy: Policy, key: int) -> None:
    options: dict[str, Any] = {"submission": token, "include": ["view"]}
    if packs := trained_on(policy):
        options["trained_on"] = dict(packs)  # the server refuses before it begins an episode
    told = server.ask("reset", options)
    rules = read_rules(told["observation"]["rules"])
    while not told["done"]:
        view = read_view(told["observation"]["view"], rules)
        decision = policy.decide([DecisionRequest(view, request_key(key, view.step))])[0]
        action = sent_decision(decision)
        if view.role is Role.OVERSIGHT and decision.suspicion is not None:
            action["suspicion"] = dict(decision.suspicion)  # Oversight is judged by it
        told = server.ask("step", action)
