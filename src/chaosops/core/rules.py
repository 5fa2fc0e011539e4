"""The rules of a world as its players know them: names, and who may do what."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.core.actions import (
    TARGETED,
    Action,
    Audit,
    Communicate,
    Escalate,
    FlagRogue,
    IdentifyRootCause,
    Noop,
    Resolve,
    Scale,
)
from chaosops.core.vocabulary import Role

# Things a role might plausibly say: a menu cannot hold every sentence.
SMALL_TALK = ("checking the metrics", "looking into it", "no change on my side yet")

_ON_SERVICES = frozenset({kind.verb for kind in TARGETED} | {Scale.verb})


class Rulebook:
    """One per pack, or per company where a pack makes companies. A value, like the rest.

    ``calls`` (who depends on whom) and ``limits_pct`` (how far an agent may go in one act)
    are what a company writes down about itself; a pack may leave them out. ``calls`` is None
    where a company has a call graph that the reader of these rules does not see.
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
    ) -> None:
        self.services = services
        self.agents = agents
        self.causes = causes
        self.verbs = {role: tuple(verbs[role]) for role in Role}
        self.replica_choices = replica_choices
        self.calls = dict(calls or ())
        self.is_company = calls is None or bool(calls)
        self.limits_pct = dict(limits_pct)
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
        services, agents, causes, verbs, replica_choices, calls, limits_pct = self._key
        return (
            Rulebook,
            (services, agents, causes, dict(verbs), replica_choices, calls, limits_pct),
        )

    def known_to(self, role: Role, sees: frozenset[str]) -> Rulebook:
        """What of the rules belongs to things that the role sees or acts on. ``sees`` are its
        channels in the visibility table."""
        if role not in self.known:
            known = self._without(
                services="health" not in sees and _ON_SERVICES.isdisjoint(self.verbs[role]),
                calls="health" not in sees,
                agents="trace" not in sees,
            )
            known.known[role] = self.known[role] = known
        return self.known[role]

    def _without(self, *, services: bool, calls: bool, agents: bool) -> Rulebook:
        seen, fleet, causes, verbs, replica_choices, graph, limits_pct = self._key
        return Rulebook(
            () if services else seen,
            () if agents else fleet,
            causes,
            dict(verbs),
            replica_choices,
            None if calls and self.is_company else graph,
            () if agents else limits_pct,
        )

    def may(self, role: Role, verb: str) -> bool:
        return (role, verb) in self._allowed

    def knows_cause(self, cause: str) -> bool:
        return cause in self._known_causes

    def menu(self, role: Role) -> tuple[tuple[Action, ...], ...]:
        """Every legal action of a role, grouped by verb in the rulebook's order."""
        if role not in self._menus:
            choices = self._choices()
            self._menus[role] = tuple(choices[verb] for verb in self.verbs[role])
        return self._menus[role]

    def legal_actions(self, role: Role) -> tuple[Action, ...]:
        return tuple(action for group in self.menu(role) for action in group)

    def _choices(self) -> dict[str, tuple[Action, ...]]:
        on_services: dict[str, tuple[Action, ...]] = {
            kind.verb: tuple(kind(service) for service in self.services)  # type: ignore[call-arg]
            for kind in TARGETED
        }
        return on_services | {
            "noop": (Noop(),),
            "communicate": tuple(Communicate(text) for text in SMALL_TALK),
            "scale": tuple(
                Scale(service, replicas)
                for service in self.services
                for replicas in self.replica_choices
            ),
            "flag_rogue": tuple(FlagRogue(agent) for agent in self.agents),
            "audit": tuple(Audit(agent) for agent in self.agents),
            "identify_root_cause": tuple(IdentifyRootCause(cause) for cause in self.causes),
            "escalate": (Escalate(),),
            "resolve": (Resolve(),),
        }
