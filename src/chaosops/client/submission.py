"""A submission from the player's side: every episode that the owner lets it play, once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chaosops.client.env_client import ChaosOpsEnv
from chaosops.client.seat import socket_url
from chaosops.core.decision import Decision
from chaosops.core.dice import STRIDE, key_of
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.wire.decisions import sent_decision
from chaosops.wire.views import read_rules, read_view


def play_submission(
    url: str, token: str, policy: Policy, seed: int = 0
) -> Iterator[tuple[int, int]]:
    """Play on to the end of the submission; after each episode, how many were played here and how
    many are left. ``seed`` is for whatever the policy draws: the episodes' own are hidden."""
    if policy.sees_truth:
        raise BadInput(f"policy {policy.name} needs the truth, which no submission is given")
    played, left = 0, 1
    socket_url(url)  # an address that is none is told before anything is asked
    with _refusals_told(url), ChaosOpsEnv(url).sync() as env:
        while left:
            _play_episode(env, token, policy, key_of("submission", seed, played))
            played, left = played + 1, env.state().episodes_left or 0
            yield played, left


@contextmanager
def _refusals_told(url: str) -> Iterator[None]:
    """OpenEnv's client raises what it comes across; here it is one line."""
    from websockets.exceptions import WebSocketException

    try:
        yield
    except (RuntimeError, OSError, WebSocketException) as error:
        raise BadInput(f"{url}: {error}") from None


def _play_episode(env: Any, token: str, policy: Policy, key: int) -> None:
    result = env.reset(submission=token, include=["view"])
    rules = read_rules(result.observation.rules.model_dump())
    while not result.done:
        view = read_view(result.observation.view.model_dump(), rules)
        decision = policy.decide([DecisionRequest(view, key + view.step * STRIDE)])[0]
        result = env.step(_to_wire(decision, view.role))


def _to_wire(decision: Decision, role: Role) -> dict[str, Any]:
    """With Oversight's suspicion, by which it is judged."""
    wire = sent_decision(decision)
    if role is Role.OVERSIGHT and decision.suspicion is not None:
        wire["suspicion"] = dict(decision.suspicion)
    return wire
