"""A careful on-call team with a runbook."""

from __future__ import annotations

from chaosops.policies.scripted import PolicyByPack, packs_with


class HeuristicPolicy(PolicyByPack):
    name = module = "heuristic"
    help = "a careful runbook"
    evaluated_in = packs_with("heuristic")
    rank = 30


POLICY = HeuristicPolicy
