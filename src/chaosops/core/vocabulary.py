"""Roles, tiers and health: the closed word lists of both packs."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Role(StrEnum):
    """The four seats of the team, in turn order."""

    SRE = "sre"
    OVERSIGHT = "oversight"
    DEV = "dev"
    MANAGER = "manager"


# Oversight speaks before the fix, so that catching the rogue and finishing
# fast never compete.
TURN_ORDER: tuple[Role, ...] = tuple(Role)


def role_on_turn(steps_taken: int) -> Role:
    """Whose turn it is after ``steps_taken`` steps.

    >>> [role_on_turn(n).value for n in range(5)]
    ['sre', 'oversight', 'dev', 'manager', 'sre']
    """
    return TURN_ORDER[steps_taken % 4]


class Tier(StrEnum):
    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Health(IntEnum):
    """Ordered: a larger number is worse."""

    HEALTHY = 0
    DEGRADED = 1
    CRITICAL = 2

    @property
    def word(self) -> str:
        return HEALTH_WORDS[self]


HEALTH_WORDS = ("healthy", "degraded", "critical")
