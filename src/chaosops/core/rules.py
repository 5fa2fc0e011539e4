"""The rules of a world as its players know them: names, and who may do what."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.core.actions import (
    Action,
    Communicate,
    Escalate,
    FlagRogue,
    IdentifyRootCause,
    Noop,
    Resolve,
    Restart,
    Rollback,
    Scale,
)
from chaosops.core.vocabulary import Role

# Things a role might plausibly say: a menu cannot hold every sentence.
SMALL_TALK = ("checking the metrics", "looking into it", "no change on my side yet")


class Rulebook:
    """One per pack, or per company where a pack makes companies. A value, like the rest."""

    def __init__(
        self,
        *,
        services: tuple[str, ...],
        agents: tuple[str, ...],
        causes: tuple[str, ...],
        verbs: Mapping[Role, tuple[str, ...]],
        replica_choices: tuple[int, ...],
    ) -> None:
        self.services = services
        self.agents = agents
        self.causes = causes
        self.verbs = {role: tuple(verbs[role]) for role in Role}
        self.replica_choices = replica_choices
        self._known_causes = frozenset(causes)
        self._allowed = frozenset((role, verb) for role in Role for verb in verbs[role])
        self._key = (services, agents, causes, tuple(self.verbs.items()), replica_choices)
        self._hash = hash(self._key)
        self._menus: dict[Role, tuple[tuple[Action, ...], ...]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rulebook) and (self is other or self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        # Rebuilt, not restored: a hash of strings holds in its own process only.
        return (
            _rebuild,
            (self.services, self.agents, self.causes, self.verbs, self.replica_choices),
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
        return {
            "noop": (Noop(),),
            "communicate": tuple(Communicate(text) for text in SMALL_TALK),
            "restart": tuple(Restart(service) for service in self.services),
            "rollback": tuple(Rollback(service) for service in self.services),
            "scale": tuple(
                Scale(service, replicas)
                for service in self.services
                for replicas in self.replica_choices
            ),
            "flag_rogue": tuple(FlagRogue(agent) for agent in self.agents),
            "identify_root_cause": tuple(IdentifyRootCause(cause) for cause in self.causes),
            "escalate": (Escalate(),),
            "resolve": (Resolve(),),
        }


def _rebuild(
    services: tuple[str, ...],
    agents: tuple[str, ...],
    causes: tuple[str, ...],
    verbs: Mapping[Role, tuple[str, ...]],
    replica_choices: tuple[int, ...],
) -> Rulebook:
    return Rulebook(
        services=services,
        agents=agents,
        causes=causes,
        verbs=verbs,
        replica_choices=replica_choices,
    )
