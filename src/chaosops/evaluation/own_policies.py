"""Policies of somebody's own in results. An import runs their code, so ``verify`` asks them again
only if the user says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaosops.core.errors import ChaosOpsError
from chaosops.core.vocabulary import Role
from chaosops.evaluation.claims import names_of, role_status
from chaosops.evaluation.findings import plain
from chaosops.policies.own import KIND
from chaosops.policies.protocol import Policy
from chaosops.policies.registry import load_policy, registered


def own_policies(statuses: Mapping[str, Any], *, ask: bool) -> tuple[dict[str, Policy], list[str]]:
    """The policies that can be asked again, and a note for each that is not, or has changed."""
    loaded: dict[str, Policy] = {}
    notes = []
    for name, source in _named(statuses).items():
        if not ask:
            notes.append(
                f"{plain(name)} is not part of chaosops: its decisions were played again, but it "
                "was not asked for them again; --own-policies imports and asks it, if you trust it"
            )
            continue
        try:
            policy = load_policy(name)
        except ChaosOpsError as error:
            notes.append(f"{plain(name)} was not asked again: {error}")
            continue
        loaded[name] = policy
        if policy.status().get("source") != source:
            notes.append(
                f"the file of {plain(name)} has changed since this was played; a decision that "
                "differs may be due to that"
            )
    return loaded, notes


def _named(statuses: Mapping[str, Any]) -> dict[str, Any]:
    """The names of these policies, and the hashes of their files."""
    found: dict[str, Any] = {}
    for team, status in statuses.items():
        names = names_of(team)
        for role in Role:
            of = role_status(status, role) if isinstance(status, Mapping) else {}
            name = names.get(role)
            if of.get("kind") == KIND and name is not None and name not in registered():
                found.setdefault(name, of.get("source"))
    return found
