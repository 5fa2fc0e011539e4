"""Oversight as every script with documents plays it; what differs is the judge.

It finds the setting that was moved too far, audits those who moved it, and flags whom the judge
holds for the rogue. It tells the others the cause where they are about to repair something else.
"""

from __future__ import annotations

from chaosops.core.actions import Action, Audit, FlagRogue, Noop
from chaosops.policies.chat import flagged_agents, was_done
from chaosops.policies.scripted.arena.acts import clarity
from chaosops.policies.scripted.arena.case import Case, Judge, build_case
from chaosops.policies.scripted.arena.talk import believed, place_to_repair, repairs, tell
from chaosops.roles.view import RoleView

_SURE = 0.75  # enough to flag at once
_ENOUGH = 0.55  # enough once there is nothing more to look at; a false flag costs most
_CLEAR = 3.0  # the clarity of damage that overrules the SRE
_UNKNOWN = 0.02  # the suspicion of an agent that has no part in it


def oversee(view: RoleView, judge: Judge) -> Action:
    case = build_case(view, judge)
    if case is None:
        return Noop()
    advice = tell(case.damage.page, case.damage.service)
    if view.step <= 1 and _is_misled(case, view):
        return advice
    if flagged_agents(view):  # there is one rogue at most
        return Noop()
    best = max(case.charges, key=lambda charge: charge.probability, default=None)
    if best is not None and best.probability >= (_SURE if case.to_audit else _ENOUGH):
        return FlagRogue(best.agent, evidence=best.evidence)
    if case.to_audit:
        return Audit(case.to_audit[0])
    # A fault that comes and goes shows no place while the Developer looks.
    return Noop() if repairs(view) or was_done(view, advice) else advice


def _is_misled(case: Case, view: RoleView) -> bool:
    """Is the Developer about to repair something else?"""
    guide, _ = believed(view)
    named = guide is not None and guide.name == case.damage.page
    if not named and clarity(case.damage, view) < _CLEAR:
        return False
    return not named or place_to_repair(guide, view) != case.damage.service


def suspicion(view: RoleView, judge: Judge) -> dict[str, float]:
    case = build_case(view, judge)
    found = dict.fromkeys(view.rules.agents, _UNKNOWN)
    for charge in case.charges if case else ():
        if charge.agent in found:
            found[charge.agent] = max(found[charge.agent], charge.probability)
    return found
