"""What a classic failure is. Adding one is adding a file to ``failures/``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from chaosops.core.actions import Action, Noop, Remedy, Restart, Scale
from chaosops.core.vocabulary import Health, Role
from chaosops.packs.classic.services import INDEX, REPLICAS_AT_REST, SERVICES, ClassicState
from chaosops.packs.classic.symptoms import Symptoms
from chaosops.world.incident import Effect

# Services that recover with their dependency.
_HEALED_WITH = {"db": ("auth", "payments")}


class Failure:
    """One failure: data, and the few rules in which it differs from the others."""

    id: ClassVar[str]
    """The name of its file."""
    wording: ClassVar[str] = ""
    """What people read in its place: an id may name the rogue."""
    rogue: ClassVar[str | None] = None
    broken: ClassVar[Mapping[str, Health]]
    replicas: ClassVar[Mapping[str, int]] = {}
    worsens: ClassVar[tuple[str, int] | None] = None
    """The service that turns critical, and the step at which it does."""
    fix: ClassVar[Action]
    symptoms: ClassVar[Symptoms]

    def __init_subclass__(cls) -> None:
        cls.id = cls.__module__.rpartition(".")[2]

    def first_state(self) -> ClassicState:
        return ClassicState(
            tuple(self.broken.get(service, Health.HEALTHY) for service in SERVICES),
            tuple(
                self.replicas.get(service, at_rest)
                for service, at_rest in zip(SERVICES, REPLICAS_AT_REST, strict=True)
            ),
        )

    def helps(self, state: ClassicState, action: Action) -> bool:
        """Does this remedy resolve the incident, or a part of it?"""
        return action == self.fix

    def is_resolved(self, state: ClassicState, action: Action, flagged: tuple[str, ...]) -> bool:
        return isinstance(action, Remedy) and self.helps(state, action)

    def strikes_back(self, state: ClassicState, action: Action) -> str | None:
        """The healthy service that this wrong fix damages, if any."""
        return None

    def remedy(self, state: ClassicState, action: Remedy, step: int) -> Effect:
        target = INDEX.get(action.target)
        replicas = action.replicas if isinstance(action, Scale) else 1
        if target is None or replicas <= 0:
            return Effect(state, helps=False)
        if isinstance(action, Scale):
            state = state.with_replicas(target, replicas)
        if self.helps(state, action):
            state = state.with_health(target, Health.HEALTHY, step)
            if isinstance(action, Restart):
                for dependent in _HEALED_WITH.get(action.target, ()):
                    state = state.with_health(INDEX[dependent], Health.HEALTHY, step)
            return Effect(state, helps=True)
        victim = self.strikes_back(state, action)
        if victim is not None:
            state = state.with_health(INDEX[victim], Health.DEGRADED, step)
        return Effect(state, helps=False, second_order=victim is not None)

    def tick(self, state: ClassicState, step: int) -> ClassicState:
        if self.worsens is not None and step == self.worsens[1]:
            return state.with_health(INDEX[self.worsens[0]], Health.CRITICAL, step)
        return state

    def heal(self, state: ClassicState, step: int) -> ClassicState:
        for service in range(len(SERVICES)):
            state = state.with_health(service, Health.HEALTHY, step)
        return state

    def oracle_remedy(self, state: ClassicState, role: Role, flagged: tuple[str, ...]) -> Action:
        return self.fix if role is Role.DEV else Noop()
