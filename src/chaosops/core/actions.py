"""What a role can do: one frozen class per verb; ``str`` says it in a few words.

>>> str(Scale("payments", 4)), str(FlagRogue("autoscaler")), str(Resolve())
('scale payments to 4', 'flag_rogue autoscaler', 'resolve')

``Unreadable`` is an action too: it stands for a reply that could not be read, so that
the world can answer it (a miscommunication) instead of anyone dropping it silently.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias


@dataclass(frozen=True, slots=True)
class Noop:
    verb: ClassVar[str] = "noop"

    def __str__(self) -> str:
        return self.verb


@dataclass(frozen=True, slots=True)
class Communicate:
    """Talk to all, or with ``to`` to one role in private (Oversight reads everything)."""

    verb: ClassVar[str] = "communicate"
    message: str
    to: str | None = None

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Restart:
    verb: ClassVar[str] = "restart"
    target: str

    def __str__(self) -> str:
        return f"restart {self.target}"


@dataclass(frozen=True, slots=True)
class Rollback:
    verb: ClassVar[str] = "rollback"
    target: str

    def __str__(self) -> str:
        return f"rollback {self.target}"


@dataclass(frozen=True, slots=True)
class Scale:
    verb: ClassVar[str] = "scale"
    target: str
    replicas: int

    def __str__(self) -> str:
        return f"scale {self.target} to {self.replicas}"


@dataclass(frozen=True, slots=True)
class FlagRogue:
    """Accuse a fleet agent. The reward ignores ``confidence``; the evaluation does not."""

    verb: ClassVar[str] = "flag_rogue"
    target: str
    confidence: float = 1.0
    evidence: int | None = None  # the id of a trace entry

    def __str__(self) -> str:
        return f"flag_rogue {self.target}"


@dataclass(frozen=True, slots=True)
class IdentifyRootCause:
    verb: ClassVar[str] = "identify_root_cause"
    failure_type: str

    def __str__(self) -> str:
        return f"root cause: {self.failure_type}"


@dataclass(frozen=True, slots=True)
class Escalate:
    verb: ClassVar[str] = "escalate"

    def __str__(self) -> str:
        return self.verb


@dataclass(frozen=True, slots=True)
class Resolve:
    """The Manager declares the incident over."""

    verb: ClassVar[str] = "resolve"

    def __str__(self) -> str:
        return self.verb


@dataclass(frozen=True, slots=True)
class Reroute:
    """Send a service's traffic back to where it belongs."""

    verb: ClassVar[str] = "reroute"
    target: str

    def __str__(self) -> str:
        return f"reroute {self.target}"


@dataclass(frozen=True, slots=True)
class Purge:
    """Free the disk of a service."""

    verb: ClassVar[str] = "purge"
    target: str

    def __str__(self) -> str:
        return f"purge {self.target}"


@dataclass(frozen=True, slots=True)
class RenewCert:
    """Issue a service a new certificate."""

    verb: ClassVar[str] = "renew_cert"
    target: str

    def __str__(self) -> str:
        return f"renew_cert {self.target}"


@dataclass(frozen=True, slots=True)
class Throttle:
    """Cap what callers may send to a service."""

    verb: ClassVar[str] = "throttle"
    target: str

    def __str__(self) -> str:
        return f"throttle {self.target}"


@dataclass(frozen=True, slots=True)
class WarmCache:
    """Fill a cache again before traffic does."""

    verb: ClassVar[str] = "warm_cache"
    target: str

    def __str__(self) -> str:
        return f"warm_cache {self.target}"


@dataclass(frozen=True, slots=True)
class PauseBatch:
    """Stop batch work on a service's machines."""

    verb: ClassVar[str] = "pause_batch"
    target: str

    def __str__(self) -> str:
        return f"pause_batch {self.target}"


@dataclass(frozen=True, slots=True)
class Inspect:
    """Look at one service closely: what changed on it, and when."""

    verb: ClassVar[str] = "inspect"
    target: str

    def __str__(self) -> str:
        return f"inspect {self.target}"


@dataclass(frozen=True, slots=True)
class Audit:
    """Read one fleet agent's own signed record."""

    verb: ClassVar[str] = "audit"
    target: str

    def __str__(self) -> str:
        return f"audit {self.target}"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A reply that is no action: the error's name and what to write instead."""

    verb: ClassVar[str] = "unreadable"
    error: str
    detail: str

    def __str__(self) -> str:
        return f"(unreadable reply: {self.error})"


Action: TypeAlias = (
    Noop
    | Communicate
    | Restart
    | Rollback
    | Scale
    | FlagRogue
    | IdentifyRootCause
    | Escalate
    | Resolve
    | Reroute
    | Purge
    | RenewCert
    | Throttle
    | WarmCache
    | PauseBatch
    | Inspect
    | Audit
    | Unreadable
)

VERBS: dict[str, type[Action]] = {
    kind.verb: kind
    for kind in (
        Noop,
        Communicate,
        Restart,
        Rollback,
        Scale,
        FlagRogue,
        IdentifyRootCause,
        Escalate,
        Resolve,
        Reroute,
        Purge,
        RenewCert,
        Throttle,
        WarmCache,
        PauseBatch,
        Inspect,
        Audit,
    )
}

# Words: they leave services and agents alone.
TALK = frozenset({"noop", "communicate", "identify_root_cause"})

# Repairs of a service: whoever tries one that does not help has made a wrong fix.
REMEDY_VERBS = (
    "restart",
    "rollback",
    "scale",
    "reroute",
    "purge",
    "renew_cert",
    "throttle",
    "warm_cache",
    "pause_batch",
)
REMEDIES = frozenset(REMEDY_VERBS)
TARGETED: tuple[type[Action], ...] = (
    Restart,
    Rollback,
    Reroute,
    Purge,
    RenewCert,
    Throttle,
    WarmCache,
    PauseBatch,
    Inspect,
)


def to_wire(action: Action) -> dict[str, Any]:
    """The flat JSON form of an action; values at their default are left out.

    >>> to_wire(Scale("payments", 4))
    {'action': 'scale', 'target': 'payments', 'replicas': 4}
    """
    wire: dict[str, Any] = {"action": action.verb}
    for field in fields(action):
        value = getattr(action, field.name)
        if value != field.default:
            wire[field.name] = value
    return wire


MODEL_FAILED = "model_failed"


def failed_turn(cause: str) -> Unreadable:
    """What stands for the action of a model that could not answer this once."""
    return Unreadable(MODEL_FAILED, cause)


def is_failed_turn(action: Action) -> bool:
    return isinstance(action, Unreadable) and action.error == MODEL_FAILED
