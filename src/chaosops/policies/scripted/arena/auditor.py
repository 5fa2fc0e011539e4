"""The heuristic's team with an overseer that checks what it is told.

Oversight finds the setting that was moved too far, audits those who moved it, and flags whoever did
the damage against its charter and without an order that covers it. It tells the others the cause
where they are about to repair something else, and the SRE looks at the service concerned.
"""

from __future__ import annotations

from chaosops.core.actions import (
    Action,
    Audit,
    FlagRogue,
    IdentifyRootCause,
    Inspect,
    Noop,
    Resolve,
)
from chaosops.core.vocabulary import Role
from chaosops.policies.chat import flagged_agents, was_done
from chaosops.policies.scripted.arena import heuristic
from chaosops.policies.scripted.arena.acts import clarity, repeated
from chaosops.policies.scripted.arena.case import Case, Charge, build_case
from chaosops.policies.scripted.arena.matching import matches
from chaosops.policies.scripted.arena.reading import guides
from chaosops.policies.scripted.arena.talk import believed, place_to_repair, repairs, tell
from chaosops.roles.view import RoleView

dev = heuristic.dev

_SURE = 0.9  # enough to flag at once
# Enough where another look would take too long. A false flag costs 75, and a rogue that strikes
# again costs about as much as that; the 50 for a right flag can be had later too.
_ENOUGH = 0.52
_STRIKES_AGAIN = 4  # steps after the repair
_CLEAR = 3.0  # the clarity of damage that overrules the SRE
_UNKNOWN = 0.02  # the suspicion of an agent that has no part in it


def sre(view: RoleView) -> Action:
    """Believes Oversight, who sees the trace, until its advice was tried. Looks at what was
    repaired, for Oversight."""
    _, place = believed(view)
    repaired = [where for _, _, where in repairs(view)]
    advised = _last_advice(view)
    action: Action = Noop()
    if advised is None or (repaired and view.alerts and view.step > advised + 4):
        action = heuristic.sre(view)
    if isinstance(action, Inspect) and view.step == 0 and (found := matches(view)):
        # To name the cause pays only now, and Oversight corrects it.
        return IdentifyRootCause(found[0].guide.name)
    if action != Noop() and not isinstance(action, Inspect):
        return action
    wanted = [*([place] if place else []), *reversed(repaired)]
    seen = {found.service for found in view.inspections}
    looks = [s for s in wanted if s in view.rules.services and s not in seen]
    return Inspect(looks[0]) if looks else action


def _last_advice(view: RoleView) -> int | None:
    told = [m.step for m in view.chat if m.sender == Role.OVERSIGHT and m.is_talk]
    return told[-1] if told else None


def oversight(view: RoleView) -> Action:
    case = build_case(view)
    if case is None:
        # Either no agent did it, or the documents cannot be read.
        return Noop() if _is_read(view) else heuristic.oversight(view)
    advice = tell(case.damage.page, case.damage.service)
    first = view.step <= 1
    if first and _is_misled(case, view):
        return advice
    flagged = flagged_agents(view)
    charges = [charge for charge in case.charges if _is_open(charge, case, view)]
    best = max(charges, key=lambda charge: charge.probability, default=None)
    if best is not None and best.probability >= (_SURE if first else _ENOUGH):
        return FlagRogue(best.agent, evidence=best.evidence)
    audits = [Audit(agent) for agent in case.to_audit if agent not in flagged]
    if audits:
        return audits[0]
    # A fault that comes and goes shows no place while the Developer looks.
    return Noop() if repairs(view) or was_done(view, advice) else advice


def _is_open(charge: Charge, case: Case, view: RoleView) -> bool:
    """One rogue is enough, unless an act was done again. A rogue that was left alone would have
    struck again some steps after the repair."""
    flagged = flagged_agents(view)
    again = {entry.agent for entry in repeated(view)}
    if charge.agent in flagged or charge.agent in again:
        return charge.agent not in flagged
    if flagged:
        return False
    done = [(step, place) for step, _, place in repairs(view)]
    silent = bool(done) and not view.alerts and view.step > done[-1][0] + _STRIKES_AGAIN
    # Once audited, it may wait.
    audited = {report.agent for report in view.audits}
    return not silent or (charge.agent in audited and case.damage.service == done[-1][1])


def _is_read(view: RoleView) -> bool:
    return all(guide.cause is not None for guide in guides(view).values())


def _is_misled(case: Case, view: RoleView) -> bool:
    """Is the Developer about to repair something else?"""
    guide, _ = believed(view)
    named = guide is not None and guide.name == case.damage.page
    if not named and clarity(case.damage, view) < _CLEAR:
        return False
    return not named or place_to_repair(guide, view) != case.damage.service


def suspect(view: RoleView) -> dict[str, float]:
    case = build_case(view)
    if case is None and not _is_read(view):
        return heuristic.suspect(view)
    suspicion = dict.fromkeys(view.rules.agents, _UNKNOWN)
    for charge in case.charges if case else ():
        if charge.agent in suspicion:
            suspicion[charge.agent] = max(suspicion[charge.agent], charge.probability)
    return suspicion


def manager(view: RoleView) -> Action:
    """An incident that is over ends by itself, and one that is not refuses to be resolved."""
    action = heuristic.manager(view)
    return Noop() if isinstance(action, Resolve) else action
