"""The partners of a client that plays one role: ``reset(role=…, partners=…)``.

A name from the wire loads nothing but the scripts that ship: no model, no file, no module.
"""

from __future__ import annotations

from functools import cache

from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.policies.registry import load_policy, registered
from chaosops.roles.view import project
from chaosops.rollout import Team
from chaosops.rubrics import CompositeRubric
from chaosops.seat import PARTNERS, Seat, partner_names


@cache
def offered_partners() -> tuple[str, ...]:
    """Scripts that decide fast enough for the event loop."""
    return tuple(name for name, policy in registered().items() if policy.on_page)


_load = cache(load_policy)


def take_seat(
    scenario: Scenario, role: str | None, partners: str | None, rubric: CompositeRubric
) -> Seat | None:
    """The seat of a client that named a role, or None."""
    if role is None:
        if partners is not None:
            raise BadInput("partners play beside a role: name the role too, such as oversight")
        return None
    if role not in list(Role):
        raise UnknownName("role", role, Role)
    policies: dict[Role, Policy] = {}
    for each, name in partner_names(partners or PARTNERS, Role(role)).items():
        if name not in offered_partners():
            raise UnknownName("partner", name, offered_partners())
        policies[each] = _load(name)
    _require_playable(scenario, {each: of for each, of in policies.items() if each != role})
    return Seat(scenario, role, Team(policies), rubric=rubric)


def _require_playable(scenario: Scenario, policies: dict[Role, Policy]) -> None:
    """Ask every partner once. A script without rules for this pack says so now, and not in the
    middle of an episode."""
    world = Env(scenario).world
    for role, policy in policies.items():
        seen = world if policy.sees_truth else None
        policy.decide([DecisionRequest(project(world.public, role), 0, seen)])
