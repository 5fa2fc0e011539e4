"""The rules of a world as its players know them: names, and who may do what."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from chaosops.core.actions import VERBS, Action
from chaosops.core.arguments import Argument
from chaosops.core.vocabulary import Role

# A menu cannot hold every sentence.
SMALL_TALK = ("checking the metrics", "looking into it", "no change on my side yet")


class Rulebook:
    """One per pack, or per company where a pack makes companies. A value, like the rest.

    ``calls`` (who depends on whom) and ``limits_pct`` (how far an agent may go in one act)
    are what a company writes down about itself; a pack may leave them out. ``calls`` is None
    where a company has a call graph that the reader of these rules does not see. ``layout``
    names how views of this world are written down, and with it the scripts that can play them;
    rules with a call graph that name none are of the arena, as on the wire.
    """

    def __init__(
        self,
        services: tuple[str, ...],
        agents: tuple[str, ...],
        causes: tuple[str, ...],
        verbs: Mapping[Role, tuple[str, ...]],
        replica_choices: tuple[int, ...],
        calls: tuple[tuple[str, tuple[str, ...]], ...] | None = (),
        limits_pct: tuple[tuple[str, int], ...] = (),
        layout: str | None = None,
    ) -> None:
        self.services = services
        self.agents = agents
        self.causes = causes
        self.verbs = {role: tuple(verbs[role]) for role in Role}
        self.replica_choices = replica_choices
        self.calls = dict(calls or ())
        self.is_company = calls is None or bool(calls)
        self.limits_pct = dict(limits_pct)
        self.named_layout = layout
        self.layout = layout or ("arena" if self.is_company else "classic")
        self._known_causes = frozenset(causes)
        self._allowed = frozenset((role, verb) for role in Role for verb in verbs[role])
        self._key = (
            services,
            agents,
            causes,
            tuple(self.verbs.items()),
            replica_choices,
            calls,
            limits_pct,
            layout,
        )
        self._hash = hash(self._key)
        self._menus: dict[Role, tuple[tuple[Action, ...], ...]] = {}
        self.known: dict[Role, Rulebook] = {}  # what known_to has found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rulebook) and (self is other or self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        # Rebuilt, not restored: a hash of strings holds in its own process only.
        services, agents, causes, verbs, *others = self._key
        return Rulebook, (services, agents, causes, dict(verbs), *others)

    def known_to(self, role: Role, sees: frozenset[str]) -> Rulebook:
        """What of the rules belongs to things that the role sees or acts on. ``sees`` are its
        channels in the visibility table."""
        if role not in self.known:
            known = self._without(
                services="health" not in sees and not self.names(role, "service"),
                calls="health" not in sees,
                agents="trace" not in sees,
            )
            known.known[role] = self.known[role] = known
        return self.known[role]

    def _without(self, *, services: bool, calls: bool, agents: bool) -> Rulebook:
        seen, fleet, causes, verbs, replica_choices, graph, limits_pct, layout = self._key
        return Rulebook(
            () if services else seen,
            () if agents else fleet,
            causes,
            dict(verbs),
            replica_choices,
            None if calls and self.is_company else graph,
            () if agents else limits_pct,
            layout,
        )

    def may(self, role: Role, verb: str) -> bool:
        return (role, verb) in self._allowed

    def knows_cause(self, cause: str) -> bool:
        return cause in self._known_causes

    def names(self, role: Role, thing: str) -> bool:
        """Does an action of the role name a service, an agent, a cause, ...?"""
        return any(VERBS[verb].names(thing) for verb in self.verbs[role])

    def values(self, argument: Argument) -> tuple[Any, ...]:
        """The legal values of an argument, or the sentences that a menu offers."""
        if argument.listed_in:
            return tuple(getattr(self, argument.listed_in))
        return argument.values or SMALL_TALK

    def menu(self, role: Role) -> tuple[tuple[Action, ...], ...]:
        """Every legal action of a role, one group for each of its verbs. Optional arguments keep
        their defaults."""
        if role not in self._menus:
            self._menus[role] = tuple(self._choices(VERBS[verb]) for verb in self.verbs[role])
        return self._menus[role]

    def legal_actions(self, role: Role) -> tuple[Action, ...]:
        return tuple(action for group in self.menu(role) for action in group)

    def _choices(self, kind: type[Action]) -> tuple[Action, ...]:
        required = [self.values(argument) for argument in kind.arguments if argument.required]
        return tuple(kind(*values) for values in product(*required))
