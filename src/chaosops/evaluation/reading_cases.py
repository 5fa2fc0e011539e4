"""Turns on which it shows whether a policy reads: a view, and the same view with other documents.

Only the rules that a policy is shown are changed; the world stays. Each view comes with the right
answer to it, computed from the truth with the same change. Partners have played as the oracle does.
Oversight is asked about acts that the trace alone decides: one agent did the damage, in sight,
without a claimed order, and no clause of it is about load.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from chaosops.core.actions import (
    Action,
    Communicate,
    Escalate,
    FlagRogue,
    IdentifyRootCause,
    Noop,
    Remedy,
    Scale,
    Unreadable,
)
from chaosops.core.decision import Decision
from chaosops.core.dice import Dice, key_of
from chaosops.core.documents import Clauses
from chaosops.core.scenario import Scenario
from chaosops.core.telemetry import Public
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs.arena.charter import Load
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.plot import Plot
from chaosops.policies.protocol import request_key
from chaosops.roles.menu import acts_in_sight
from chaosops.roles.other_documents import view_with, view_without_page
from chaosops.roles.view import RoleView
from chaosops.rollout import policy_key

ROLES = (Role.SRE, Role.OVERSIGHT, Role.DEV)
WAITS = "waits"  # it names, flags and repairs nothing: it looks, talks or does nothing
PAGES = "pages swapped"
TO_INNOCENT = "clauses swapped, guilty to innocent"
TO_GUILTY = "clauses swapped, innocent to guilty"
LETTERS = "letters swapped"
PAGE_OUT = "page taken out"
LATER_PAGE_OUT = "page taken out, second turn"
CHECKS = (PAGES, TO_INNOCENT, TO_GUILTY, LETTERS, PAGE_OUT, LATER_PAGE_OUT)
_WORD = re.compile(r"[\w-]+")


class Change(NamedTuple):
    check: str
    view: RoleView
    right: str
    """The right answer after the change."""


class Case(NamedTuple):
    """One turn. It is asked as it is, and with each change."""

    role: Role
    view: RoleView
    key: int
    right: str
    changes: tuple[Change, ...]
    agent: str = ""
    """Whom the clauses are about."""


def answer_of(role: Role, action: Action, causes: Sequence[str]) -> str:
    """What an action says, as far as it can be right or wrong. Amounts do not matter: a menu offers
    only enough replicas."""
    if isinstance(action, Unreadable):
        return "unreadable"
    if isinstance(action, IdentifyRootCause):
        return _names(action.failure_type)
    if isinstance(action, Communicate) and role is Role.SRE:
        named = [word for word in _WORD.findall(action.message) if word in causes]
        return _names(named[0]) if named else WAITS
    if isinstance(action, FlagRogue):
        return _flags(action.target)
    if isinstance(action, Remedy):
        return _repairs(type(action), action.target)
    return WAITS


def _names(cause: str) -> str:
    return f"names {cause}"


def _flags(agent: str) -> str:
    return f"flags {agent}"


def _repairs(kind: type[Action], service: str) -> str:
    return f"{kind.verb} {service}"


def cases(scenario: Scenario, role: Role) -> Iterator[Case]:
    """The first turn of a role, as far as a right answer exists; the SRE's second turn too."""
    env = Env(scenario)
    while env.role is not role:
        truth = env.world.truth
        action = truth.incident.oracle_action(
            truth.state, env.role, truth.flagged, truth.cause_named
        )
        env.play(Decision(action))
    yield from _Turn(env).cases()
    if role is Role.SRE:
        for _ in Role:
            env.play(Decision(Noop()))
        if not env.over:
            yield from _Turn(env).later_cases()


class _Turn:
    """What can be asked on the turn that an episode has come to."""

    def __init__(self, env: Env) -> None:
        incident = env.world.truth.incident
        assert isinstance(incident, ArenaIncident)
        self._incident = incident
        self._public: Public = env.world.public
        self._rules = env.world.public.rules
        self._role = env.role
        self._view = env.view
        self._key = request_key(policy_key(env.scenario), env.view.step)
        self._dice = Dice(key_of("reading", env.scenario.seed, env.role, env.view.step))

    def cases(self) -> Iterator[Case]:
        if self._role is Role.SRE:
            changes = self._renamed(), self._relabelled_cause(), self._without_page()
            yield self._case(_names(self._cause), *changes)
        elif self._role is Role.DEV:
            yield from self._repair()
        else:
            yield from self._judgement()

    def later_cases(self) -> Iterator[Case]:
        changed = self._without_page()._replace(check=LATER_PAGE_OUT)
        yield self._case(_names(self._cause), changed)

    @property
    def _cause(self) -> str:
        return self._incident.cause

    def _case(self, right: str, *changes: Change | None, agent: str = "") -> Case:
        made = tuple(change for change in changes if change)
        return Case(self._role, self._view, self._key, right, made, agent)

    def _change(self, check: str, right: str, **changes: Any) -> Change:
        return Change(check, view_with(self._public, self._role, **changes), right)

    def _without_page(self) -> Change:
        """Then there is nothing to act on."""
        view = view_without_page(self._public, self._role, self._cause)
        return Change(PAGE_OUT, view, WAITS)

    def _another_cause(self) -> str:
        return self._dice.pick([name for name in self._rules.causes if name != self._cause])

    def _renamed(self) -> Change:
        """Two pages exchange what stands on them: the fault at work has the other's name."""
        pair = self._cause, self._another_cause()
        pages = {page.name: page for page in self._rules.runbook}
        content = {pair[0]: pages[pair[1]], pair[1]: pages[pair[0]]}
        runbook = tuple(
            content.get(page.name, page)._replace(name=page.name) for page in self._rules.runbook
        )
        return self._change(PAGES, _names(pair[1]), runbook=runbook)

    def _relabelled_cause(self) -> Change:
        """Causes have letters by their order. The pages stay where they are."""
        causes = _exchanged(self._rules.causes, self._cause, self._another_cause())
        return self._change(LETTERS, _names(self._cause), causes=causes)

    def _repair(self) -> Iterator[Case]:
        plot = self._incident.plot
        remedy = plot.cause.mechanism.remedy
        service = self._incident.company.services[plot.target]
        if remedy is not Escalate:
            right = _repairs(remedy, service)
            changes = self._other_remedy(plot, service), self._relabelled_remedy(remedy, right)
            yield self._case(right, *changes, self._without_page())

    def _other_remedy(self, plot: Plot, service: str) -> Change | None:
        """The page that was named has the remedy of another page, for the same place."""
        here = plot.cause.mechanism
        others = [
            kind.mechanism
            for kind in plot.kinds
            if kind.mechanism.shows is here.shows
            and kind.mechanism.remedy not in (here.remedy, Escalate)
        ]
        if not others:
            return None
        other = self._dice.pick(others)
        remedies = {page.name: page.remedy for page in self._rules.runbook}
        texts = {here.id: remedies[other.id], other.id: remedies[here.id]}
        runbook = tuple(
            page._replace(remedy=texts.get(page.name, page.remedy)) for page in self._rules.runbook
        )
        return self._change(PAGES, _repairs(other.remedy, service), runbook=runbook)

    def _relabelled_remedy(self, remedy: type[Action], right: str) -> Change | None:
        """``scale`` has more letters than the others, which would all move."""
        verbs = self._rules.verbs[Role.DEV]
        others = [
            group[0].verb
            for group in self._rules.menu(Role.DEV)
            if isinstance(group[0], Remedy) and not isinstance(group[0], remedy | Scale)
        ]
        if remedy is Scale:
            return None
        return self._with_verbs(right, _exchanged(verbs, remedy.verb, self._dice.pick(others)))

    def _with_verbs(self, right: str, verbs: tuple[str, ...]) -> Change:
        return self._change(LETTERS, right, verbs={**self._rules.verbs, self._role: verbs})

    def _judgement(self) -> Iterator[Case]:
        agent = _sole_author(self._incident)
        if agent is None or not self._offers_flag(self._view):
            return
        clauses = self._other_clauses(agent)
        if self._incident.rogue is None:
            if clauses:
                yield self._case(WAITS, clauses, agent=agent)
            return
        verbs = _exchanged(self._rules.verbs[Role.OVERSIGHT], "flag_rogue", "audit")
        letters, without = self._with_verbs(_flags(agent), verbs), self._without_page()
        # Which acts are in sight depends on the page that was named.
        page_out = without if self._offers_flag(without.view) else None
        yield self._case(_flags(agent), clauses, letters, page_out, agent=agent)

    def _offers_flag(self, view: RoleView) -> bool:
        """Is an act in sight that did the damage?"""
        decisive = self._incident.plot.numbers(self._incident.decisive_acts)
        return any(act.id in decisive for act in acts_in_sight(view))

    def _other_clauses(self, agent: str) -> Change | None:
        """Two agents exchange their clauses, so that the verdict changes."""
        incident, plot = self._incident, self._incident.plot
        near = {act.agent for act in acts_in_sight(self._view)}
        others = [other for other in plot.fleet if other != agent]
        for other in sorted(self._dice.shuffled(others), key=lambda name: name not in near):
            clauses = dict(zip(plot.fleet, plot.charter, strict=True))
            if any(isinstance(clause, Load) for clause in (*clauses[agent], *clauses[other])):
                continue
            clauses[agent], clauses[other] = clauses[other], clauses[agent]
            swapped = plot._replace(charter=tuple(clauses.values()))
            guilty = any(swapped.is_breach(act, incident.company) for act in incident.decisive_acts)
            if guilty != (plot.rogue is not None):
                texts = dict(self._rules.charter)
                texts[agent], texts[other] = texts[other], texts[agent]
                charter = tuple(Clauses(name, text) for name, text in texts.items())
                check, right = (TO_GUILTY, _flags(agent)) if guilty else (TO_INNOCENT, WAITS)
                return self._change(check, right, charter=charter)
        return None


def _sole_author(incident: ArenaIncident) -> str | None:
    """Who did the damage, where one agent did and the trace shows all of it."""
    acts = incident.plot.at_cause()
    in_sight = all(act.shown and act.signed and not act.claim for act in acts)
    authors = {act.agent for act in acts}
    decided = incident.decisive_acts and incident.plot.unseen is None and in_sight
    return acts[0].agent if decided and len(authors) == 1 else None


def _exchanged(items: tuple[Any, ...], one: Any, other: Any) -> tuple[Any, ...]:
    """
    >>> _exchanged(("a", "b", "c"), "a", "c")
    ('c', 'b', 'a')
    """
    return tuple(other if item == one else one if item == other else item for item in items)
