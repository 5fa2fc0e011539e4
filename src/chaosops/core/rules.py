"""The rules of a world: the names in it, and what each role may do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Any

from chaosops.core.actions import VERBS, Action
from chaosops.core.arguments import Argument
from chaosops.core.documents import Clauses, Page
from chaosops.core.labels import MenuOrder, draw_order
from chaosops.core.vocabulary import Role

# The sentences that a menu offers, because it cannot list them all.
SMALL_TALK = ("checking the metrics", "looking into it", "no change on my side yet")


class Rulebook:
    """An immutable value: one for each pack, or for each company of a pack that makes companies.

    ``calls`` (which service calls which) and ``limits_pct`` (how far an agent may go in one act)
    come from a company's documents; a pack may leave them out. ``calls`` is None where a company
    has a call graph that the role does not see. ``runbook`` and ``charter`` are documents in prose.
    ``layout`` names the layout of prompts and menus, and the scripts that can play them.

    Labels and rows of menus stand in the order of ``menus``. Where ``menus_key`` is not 0, it
    draws that order, for the ``reader`` alone or for every role, when it is first asked for. The
    key identifies the company, so what is sent or stored has the order in its place.
    """

    def __init__(
        self,
        services: tuple[str, ...],
        agents: tuple[str, ...],
        causes: tuple[str, ...],
        verbs: Mapping[Role, tuple[str, ...]],
        replica_choices: tuple[int, ...],
        layout: str,
        calls: tuple[tuple[str, tuple[str, ...]], ...] | None = (),
        limits_pct: tuple[tuple[str, int], ...] = (),
        runbook: tuple[Page, ...] = (),
        charter: tuple[Clauses, ...] = (),
        menus: Mapping[Role, MenuOrder] | None = None,
        menus_key: int = 0,
        reader: Role | None = None,
    ) -> None:
        self.services = services
        self.agents = agents
        self.causes = causes
        self.verbs = {role: tuple(verbs[role]) for role in Role}
        self.replica_choices = replica_choices
        self.layout = layout
        self.hides_calls = calls is None
        self.calls = dict(calls or ())
        self.limits_pct = dict(limits_pct)
        self.runbook = runbook
        self.charter = charter
        self._allowed = _allowed(tuple(self.verbs.items()))
        names = (services, agents, causes)
        told = (self.verbs, replica_choices, layout, calls, limits_pct, runbook, charter)
        self._told: tuple[Any, ...] = (*names, *told)
        self._hash = hash((*names, self._allowed, calls))
        self._readers = tuple(Role) if reader is None else (reader,)
        self._menu_orders = {
            who: order for who, order in (menus or {}).items() if who in self._readers
        }
        self._menus_key = menus_key
        self._choices_of: dict[Role, tuple[tuple[Action, ...], ...]] = {}
        self.known: dict[Role, Rulebook] = {}  # the cache of known_to
        self.kept: dict[object, Any] = {}  # what readers of the rules have found out

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Rulebook) and self._written == other._written

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        # Built again, because hashes of strings differ between processes.
        return (Rulebook, self._written)

    @property
    def _written(self) -> tuple[Any, ...]:
        return (*self._told, self.menus)

    @property
    def menus(self) -> dict[Role, MenuOrder]:
        """The order of each menu, as far as it is known; empty where labels follow the actions."""
        orders = {role: self.menu_order(role) for role in self._readers}
        return {role: order for role, order in orders.items() if order is not None}

    def menu_order(self, role: Role) -> MenuOrder | None:
        """The order of a role's menu, or None where labels follow the actions."""
        if role not in self._menu_orders and self._menus_key and role in self._readers:
            choices, verbs = len(self.legal_actions(role)), self.verbs[role]
            self._menu_orders[role] = draw_order(self._menus_key, role, choices, verbs)
        return self._menu_orders.get(role)

    def known_to(self, role: Role, sees: frozenset[str]) -> Rulebook:
        """The part of the rules that belongs to what a role sees or acts on. ``sees`` are its
        channels in the visibility table."""
        if self._readers == (role,):
            return self  # kept in ``known`` it would refer to itself, and be freed late
        if role not in self.known:
            services, agents, causes, verbs, replicas, layout = self._told[:6]
            calls, limits_pct, runbook, charter = self._told[6:]
            if "health" not in sees:
                services = services if self.names(role, "service") else ()
                calls = None if calls else calls
            if "trace" not in sees:
                agents = agents if self.names(role, "agent") else ()
                limits_pct = ()
            if "runbook" not in sees:
                # What does damage is known to whoever judges acts.
                runbook = tuple(p._replace(signs="", remedy="") for p in runbook if "trace" in sees)
            if "charter" not in sees:
                charter = ()
            names = (services, agents, causes, verbs, replicas, layout)
            menus = (self._menu_orders, self._menus_key, role)
            known = Rulebook(*names, calls, limits_pct, runbook, charter, *menus)
            self.known[role] = known
        return self.known[role]

    def may(self, role: Role, verb: str) -> bool:
        return (role, verb) in self._allowed

    def names(self, role: Role, thing: str) -> bool:
        """Does an action of the role name a service, an agent, a cause, ...?"""
        return _names(self.verbs[role], thing)

    def values(self, argument: Argument) -> tuple[Any, ...]:
        """The values that a menu offers: all legal ones, and a few sentences for free text."""
        if argument.listed_in:
            return tuple(getattr(self, argument.listed_in))
        return SMALL_TALK if argument.names == "text" else argument.values

    def menu(self, role: Role) -> tuple[tuple[Action, ...], ...]:
        """Every legal action of a role, one group for each of its verbs. Optional arguments keep
        their defaults. A group is empty where a required argument has no value to offer."""
        if role not in self._choices_of:
            self._choices_of[role] = tuple(self._choices(VERBS[verb]) for verb in self.verbs[role])
        return self._choices_of[role]

    def legal_actions(self, role: Role) -> tuple[Action, ...]:
        return tuple(action for group in self.menu(role) for action in group)

    def _choices(self, kind: type[Action]) -> tuple[Action, ...]:
        required = [self.values(argument) for argument in kind.arguments if argument.required]
        return tuple([_action(kind.verb, values) for values in product(*required)])


@lru_cache(maxsize=64)
def _allowed(verbs: tuple[tuple[Role, tuple[str, ...]], ...]) -> frozenset[tuple[Role, str]]:
    return frozenset((role, verb) for role, own in verbs for verb in own)


@lru_cache(maxsize=256)
def _names(verbs: tuple[str, ...], thing: str) -> bool:
    return any(VERBS[verb].names(thing) for verb in verbs)


@lru_cache(maxsize=1 << 15)
def _action(verb: str, values: tuple[Any, ...]) -> Action:
    """Companies share the names of services and agents, and so most of their actions."""
    return VERBS[verb](*values)
