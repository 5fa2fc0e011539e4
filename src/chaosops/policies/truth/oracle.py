"""Knows the truth, and obeys turns and permissions like everybody else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chaosops.core.decision import Decision
from chaosops.policies.protocol import DecisionRequest
from chaosops.world.engine import World


class OraclePolicy:
    name = "oracle"
    sees_truth = True

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        return [self._decide(request) for request in requests]

    def _decide(self, request: DecisionRequest) -> Decision:
        world = request.world
        assert isinstance(world, World), "the episode loop gives truth to whoever declares it"
        truth = world.truth
        incident = truth.incident
        role = request.view.role
        action = incident.oracle_action(truth.state, role, truth.flagged, truth.cause_named)
        suspicion = {a: float(a == incident.rogue) for a in world.public.rules.agents}
        return Decision(action, suspicion=suspicion)

    def status(self) -> Mapping[str, Any]:
        return {"kind": "scripted", "policy": self.name, "sees_truth": self.sees_truth}
