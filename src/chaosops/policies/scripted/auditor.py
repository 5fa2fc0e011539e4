"""The strongest script: the heuristic's team with an overseer that audits."""

from __future__ import annotations

from typing import Any

from chaosops.policies.scripted import PolicyByPack, load_implementation
from chaosops.roles.view import RoleView


class AuditorPolicy(PolicyByPack):
    name = module = "auditor"
    help = "reads runbook, charter and orders, and audits whom they concern"
    evaluated_in = ("arena",)
    rank = 45

    def implementation(self, view: RoleView) -> Any:
        """Where a pack has no documents, there is nothing to audit by: it plays the heuristic."""
        module = self.module if view.rules.runbook else "heuristic"
        return load_implementation(view.rules.layout, module)


POLICY = AuditorPolicy
