"""A careful on-call team with a runbook."""

from __future__ import annotations

from chaosops.policies.protocol import EVERY_PACK
from chaosops.policies.scripted import PolicyByPack


class HeuristicPolicy(PolicyByPack):
    name = module = "heuristic"
    help = "a careful runbook"
    evaluated_in = EVERY_PACK
    rank = 30


POLICY = HeuristicPolicy
