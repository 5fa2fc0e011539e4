"""The four services of the classic pack, and their physical state."""

from __future__ import annotations

from typing import NamedTuple

from chaosops.core.vocabulary import Health

SERVICES = ("auth", "payments", "notifications", "db")
REPLICAS_AT_REST = (3, 4, 2, 1)
INDEX = {service: i for i, service in enumerate(SERVICES)}


class HealthChange(NamedTuple):
    """A change of a service's health at a step. Logs and alerts are written from these."""

    step: int
    service: int
    health: Health


class ClassicState(NamedTuple):
    health: tuple[Health, ...]
    replicas: tuple[int, ...]
    changes: tuple[HealthChange, ...] = ()

    def health_of(self, service: str) -> Health:
        return self.health[INDEX[service]]

    def with_health(self, service: int, health: Health, step: int) -> ClassicState:
        if self.health[service] == health:
            return self
        new = (*self.health[:service], health, *self.health[service + 1 :])
        return ClassicState(
            new, self.replicas, (*self.changes, HealthChange(step, service, health))
        )

    def with_replicas(self, service: int, replicas: int) -> ClassicState:
        new = (*self.replicas[:service], replicas, *self.replicas[service + 1 :])
        return ClassicState(self.health, new, self.changes)
