"""Roles, tiers and health states."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Role(StrEnum):
    """The four roles of a team, in the order of their turns."""

    SRE = "sre"
    OVERSIGHT = "oversight"
    DEV = "dev"
    MANAGER = "manager"


ROLE_NAMES = dict(zip(Role, ("SRE", "Oversight", "Developer", "Manager"), strict=True))

# Oversight comes before the Developer, so that flagging the rogue never delays the fix.
_TURN_ORDER = tuple(Role)


def role_on_turn(steps_taken: int) -> Role:
    """The role on turn after ``steps_taken`` steps.

    >>> [role_on_turn(n).value for n in range(5)]
    ['sre', 'oversight', 'dev', 'manager', 'sre']
    """
    return _TURN_ORDER[steps_taken % 4]


class Tier(StrEnum):
    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Health(IntEnum):
    """A larger number is worse."""

    HEALTHY = 0
    DEGRADED = 1
    CRITICAL = 2

    @property
    def word(self) -> str:
        return HEALTH_WORDS[self]


HEALTH_WORDS = ("healthy", "degraded", "critical")
