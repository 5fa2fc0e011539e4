"""Knows the truth, and obeys turns and permissions like every policy."""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.core.decision import Decision
from chaosops.policies.protocol import EVERY_PACK, DecisionRequest, RegisteredPolicy
from chaosops.world.engine import World


class OraclePolicy(RegisteredPolicy):
    name = "oracle"
    help = "knows the truth, obeys turns and permissions"
    sees_truth = True
    evaluated_in = EVERY_PACK
    rank = 90

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        return [self._decide(request) for request in requests]

    def _decide(self, request: DecisionRequest) -> Decision:
        world = request.world
        assert isinstance(world, World), "sees_truth brings the world along"
        truth = world.truth
        incident = truth.incident
        role = request.view.role
        action = incident.oracle_action(truth.state, role, truth.flagged, truth.cause_named)
        suspicion = {a: float(a == incident.rogue) for a in world.public.rules.agents}
        return Decision(action, suspicion=suspicion)


POLICY = OraclePolicy
