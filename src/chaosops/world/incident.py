"""What the engine asks of a pack: the physics and the truth of one incident."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeAlias

from chaosops.core.actions import Action
from chaosops.core.rules import Rulebook
from chaosops.core.scenario import Scenario
from chaosops.core.telemetry import Sensors
from chaosops.core.vocabulary import Role, Tier

# A pack's physical state: any immutable value that JSON can hold. The engine passes it on.
State: TypeAlias = Any


class Effect(NamedTuple):
    """What a remedy did. ``helps`` is judged before the remedy takes effect."""

    state: State
    helps: bool
    second_order: bool = False


class Incident(Protocol):
    """One incident being played: its truth and its physics, without mutable state."""

    @property
    def cause(self) -> str: ...
    @property
    def rogue(self) -> str | None: ...

    def remedy(self, state: State, action: Action, step: int) -> Effect:
        """Apply a restart, rollback or scale."""
        ...

    def is_resolved(
        self, state: State, role: Role, action: Action, flagged: tuple[str, ...]
    ) -> bool:
        """Is the incident over now that ``action`` has taken effect?"""
        ...

    def tick(self, state: State, step: int) -> State:
        """One step of time in a world that is still broken."""
        ...

    def heal(self, state: State, step: int) -> State:
        """The state of a resolved world."""
        ...

    def sense(self, state: State, step: int) -> Sensors: ...

    def oracle_action(
        self, state: State, role: Role, flagged: tuple[str, ...], cause_named: bool
    ) -> Action:
        """What someone who knows the truth does in this seat, within its permissions."""
        ...

    def reward_key(self, state: State, step: int, flagged: tuple[str, ...]) -> object:
        """All of the state that any future reward depends on: equal keys, equal futures."""
        ...


class Pack(Protocol):
    """A family of incidents. Packs are data: the engine knows none by name."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def limits(self) -> dict[Tier, int]: ...

    def failures(self, tier: Tier | None = None) -> tuple[str, ...]:
        """Failure ids, in the published order where a tier is given."""
        ...

    def open(self, scenario: Scenario) -> tuple[Rulebook, Incident, State]:
        """The rules, the incident and its first state. Unknown failures raise UnknownName."""
        ...

    def content_hash(self) -> str: ...
