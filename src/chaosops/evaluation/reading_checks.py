"""Checks of reading: change the documents and see whether the answers follow.

Only turns that a policy answered rightly before the change count. Its answer after the change then
follows the documents, stays as it was, or is something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from chaosops.core.actions import Action, FlagRogue, is_failed_turn
from chaosops.core.decision import Decision
from chaosops.core.dice import key_of
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.evaluation.estimates import share_figure
from chaosops.evaluation.reading_cases import CHECKS, LETTERS, ROLES, Case, Change, answer_of, cases
from chaosops.evaluation.statistics import mean
from chaosops.packs.arena import PACK
from chaosops.policies.llm.trained_on import require_trained_on, trained_on
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.roles.menu import menu
from chaosops.rollout import Team

FIRST_SEED = 2_050_000  # companies that no recipe trains on and no evaluation plays by default
_LOOKED_AT = 12  # companies for each in which a role can be asked
FOLLOWS, STAYS, ELSE = "follows", "stays", "else"
_AT_ONCE = 8  # requests; progress is told between them

Tell = Callable[[str, int, int], None]


class Answer(NamedTuple):
    """What came of one change."""

    check: str
    role: Role
    right_before: bool = False
    failed: bool = False
    """A model could not answer, before the change or after it."""
    outcome: str = ""
    suspicion: tuple[float, float] | None = None
    """Of the agent whom the clauses are about, before and after."""


def check_reading(
    team: Team,
    scenario_of: Callable[[int], Scenario],
    companies: int,
    roles: Sequence[Role] = ROLES,
    tell: Tell = lambda what, done, total: None,
) -> list[dict[str, Any]]:
    """A row of figures for each check and role. A team's policies are asked in their own roles.
    ``scenario_of`` makes a company of a seed."""
    for role in roles:
        _require_reader(team.policies[role])
    asked = [case for role in roles for case in _cases(scenario_of, companies, role, tell)]
    answers = list(_answers(team, asked, tell))
    return [
        _row(check, role, found)
        for check in CHECKS
        for role in roles
        if (found := [answer for answer in answers if (answer.check, answer.role) == (check, role)])
    ]


def _require_reader(policy: Policy) -> None:
    packs = trained_on(policy)
    require_trained_on(policy.name, packs, PACK.name, PACK.version, pack_is_given=True)
    if policy.sees_truth:
        raise BadInput(f"{policy.name} sees the truth and reads no documents: name another policy")


def _cases(
    scenario_of: Callable[[int], Scenario], companies: int, role: Role, tell: Tell
) -> Iterator[Case]:
    """Cases of the first companies in which the role can be asked."""
    found = 0
    for seed in range(FIRST_SEED, FIRST_SEED + _LOOKED_AT * companies):
        tell(f"opening companies for {role}", found, companies)
        if found == companies:
            return
        made = list(cases(scenario_of(seed), role))
        yield from made
        found += bool(made)


def _answers(team: Team, asked: Sequence[Case], tell: Tell) -> Iterator[Answer]:
    """First every turn as it is, then the changes of those that were answered rightly."""
    before = _decide(
        [(team.policies[case.role], DecisionRequest(case.view, case.key)) for case in asked],
        lambda done, total: tell("asking, as it is", done, total),
    )
    right: list[tuple[Case, Change, Decision]] = []
    for case, decision in zip(asked, before, strict=True):
        is_right = _said(case, decision) == case.right
        for change in case.changes:
            if is_right:
                right.append((case, change, decision))
            else:
                failed = is_failed_turn(decision.action)
                yield Answer(change.check, case.role, failed=failed)
    after = _decide(
        [(team.policies[case.role], _request(case, change)) for case, change, _ in right],
        lambda done, total: tell("asking, changed", done, total),
    )
    for (case, change, old), new in zip(right, after, strict=True):
        if is_failed_turn(new.action):
            yield Answer(change.check, case.role, failed=True)
        else:
            outcome, told = _outcome(case, change, old, new), _suspicion(case, old, new)
            yield Answer(change.check, case.role, True, outcome=outcome, suspicion=told)


def _request(case: Case, change: Change) -> DecisionRequest:
    """With draws of its own: otherwise chance would answer as before."""
    return DecisionRequest(change.view, key_of(case.key, change.check))


def _decide(
    requests: Sequence[tuple[Policy, DecisionRequest]], tell: Callable[[int, int], None]
) -> list[Decision]:
    """In batches, each by one policy."""
    decisions: dict[int, Decision] = {}
    for policy in dict.fromkeys(policy for policy, _ in requests):
        places = [i for i, (its, _) in enumerate(requests) if its is policy]
        for first in range(0, len(places), _AT_ONCE):
            some = places[first : first + _AT_ONCE]
            tell(len(decisions), len(requests))
            made = policy.decide([requests[i][1] for i in some])
            decisions.update(zip(some, made, strict=True))
    return [decisions[i] for i in range(len(requests))]


def _said(case: Case, decision: Decision) -> str:
    return answer_of(case.role, decision.action, case.view.rules.causes)


def _outcome(case: Case, change: Change, old: Decision, new: Decision) -> str:
    if change.check == LETTERS:
        return _letters_outcome(case, change, _plain(old.action), _plain(new.action))
    said = _said(case, new)
    return FOLLOWS if said == change.right else STAYS if said == case.right else ELSE


def _letters_outcome(case: Case, change: Change, old: Action, new: Action) -> str:
    """The action must be the same. It stays where the letter is the same instead."""
    if new == old:
        return FOLLOWS
    letter = next((name for name, action in menu(case.view).items() if action == old), None)
    return STAYS if letter and menu(change.view).get(letter) == new else ELSE


def _plain(action: Action) -> Action:
    """Without how sure a flag is."""
    return replace(action, confidence=1.0) if isinstance(action, FlagRogue) else action


def _suspicion(case: Case, old: Decision, new: Decision) -> tuple[float, float] | None:
    if not case.agent or old.suspicion is None or new.suspicion is None:
        return None
    return old.suspicion.get(case.agent, 0.0), new.suspicion.get(case.agent, 0.0)


def _row(check: str, role: Role, answers: Iterable[Answer]) -> dict[str, Any]:
    answers = list(answers)
    outcomes = [answer.outcome for answer in answers if answer.right_before]
    row: dict[str, Any] = {
        "check": check,
        "role": role.value,
        "asked": len(answers),
        "failed": sum(answer.failed for answer in answers),
        "right_before": len(outcomes),
    }
    for name in (FOLLOWS, STAYS, ELSE):
        row[name] = share_figure([outcome == name for outcome in outcomes])
    told = [answer.suspicion for answer in answers if answer.suspicion]
    row["suspicion_before"] = mean([before for before, _ in told])
    row["suspicion_after"] = mean([after for _, after in told])
    return row
