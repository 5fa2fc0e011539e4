"""What a role can do. Each action is described once, here. Everything else is derived from it:
the wire form, parsing, the prompt, legal choices, schemas, tools and the page's menu.

>>> str(Scale("payments", 4)), str(FlagRogue("autoscaler")), str(Resolve())
('scale payments to 4', 'flag_rogue autoscaler', 'resolve')

To add an action, add a class here and permit its verb in a pack.
"""

# No "from __future__ import annotations": ``action`` reads the annotations of the fields.
from collections.abc import Callable
from dataclasses import Field, dataclass, fields
from functools import cache
from typing import Any, ClassVar, TypeVar, dataclass_transform

from chaosops.core.arguments import (
    AgentName,
    Argument,
    CauseName,
    Probability,
    Recipient,
    Replicas,
    ServiceName,
    Text,
    TraceId,
)


class Action:
    """The base of all actions. They are values: frozen, hashable, cheap to make."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    verb: ClassVar[str]
    title: ClassVar[str]  # on a button
    arguments: ClassVar[tuple[Argument, ...]] = ()

    @property
    def words(self) -> str:
        """The arguments, in a few words."""
        return getattr(self, self.arguments[0].name) if self.arguments else ""

    def __str__(self) -> str:
        return f"{self.verb} {self.words}" if self.arguments else self.verb

    @classmethod
    def names(cls, thing: str) -> bool:
        """Does an argument name this kind of thing: a service, an agent, a cause, ...?"""
        return any(argument.names == thing for argument in cls.arguments)

    @classmethod
    @cache
    def form(cls) -> str:
        """How a reply with this action looks, for the prompt.

        >>> print(Scale.form())
        {"action":"scale","target":"SERVICE","replicas":N}
        """
        parts = [f'"action":"{cls.verb}"', *(a.in_form() for a in cls.arguments if a.required)]
        also = [f" or with {a.in_form()} {a.use}" for a in cls.arguments if a.use]
        return "{" + ",".join(parts) + "}" + "".join(also)


VERBS: dict[str, type[Action]] = {}  # the actions a reply can name

# An action is written flat, beside these fields of a turn or of a message.
TURN_FIELDS = frozenset(
    {
        *("step", "role", "suspicion", "events", "reward", "rubrics"),
        *("reply", "prompt_sha256", "tokens_read", "tokens_written", "corrections"),
        *("reasoning_chars", "suspicion_lost"),
    }
)
_RESERVED = TURN_FIELDS | {"action", "args", "metadata", "reason"}

T = TypeVar("T", bound=Action)


def _argument(field: Field[Any]) -> Argument:
    name, kinds = field.name, getattr(field.type, "__metadata__", None)
    if kinds is None:
        raise TypeError(f"{name}: {field.type} must be one of the types of core/arguments.py")
    argument: Argument = kinds[0]._replace(name=name, default=field.default)
    if name in _RESERVED:
        raise TypeError(f"no argument of an action can be called {name}")
    for verb, kind in VERBS.items():
        for other in kind.arguments:
            if other.name == name and (other.type, other.limit) != (argument.type, argument.limit):
                raise TypeError(f"{name} holds something else in {verb}: use another name")
    return argument


@dataclass_transform(frozen_default=True)
def action(verb: str, title: str = "") -> Callable[[type[T]], type[T]]:
    """Make a class an action. Its docstring is the description that tools show."""

    def described(cls: type[T]) -> type[T]:
        kind = dataclass(frozen=True, slots=True)(cls)
        kind.verb, kind.title = verb, title
        kind.arguments = tuple(_argument(field) for field in fields(kind))
        if verb in VERBS:
            raise TypeError(f"there are two actions {verb}")
        if title:
            VERBS[verb] = kind
        return kind

    return described


class Talk(Action):
    """Has no effect on services and agents. Packs are not asked about it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Remedy(Action):
    """Repairs a service. A remedy that does not help is a wrong fix."""

    target: ServiceName


@action("noop", "Do nothing")
class Noop(Talk):
    """Do nothing this turn."""


@action("communicate", "Say something")
class Communicate(Talk):
    """Say something to all, or to one role in private; Oversight reads everything."""

    message: Text
    to: Recipient = None

    def __str__(self) -> str:
        return self.message


@action("restart", "Restart")
class Restart(Remedy):
    """Restart a service."""


@action("rollback", "Roll back")
class Rollback(Remedy):
    """Take a service back to its version before."""


@action("scale", "Scale")
class Scale(Remedy):
    """Set the number of a service's replicas."""

    replicas: Replicas

    @property
    def words(self) -> str:
        return f"{self.target} to {self.replicas}"


@action("flag_rogue", "Flag a rogue")
class FlagRogue(Action):
    """Accuse a fleet agent of having caused the incident."""

    target: AgentName
    confidence: Probability = 1.0  # no reward depends on it; the evaluation does
    evidence: TraceId = None


@action("identify_root_cause", "Name the root cause")
class IdentifyRootCause(Talk):
    """Name the root cause of the incident."""

    failure_type: CauseName

    def __str__(self) -> str:
        return f"root cause: {self.failure_type}"


@action("escalate", "Escalate")
class Escalate(Action):
    """Escalate the incident."""


@action("resolve", "Declare it resolved")
class Resolve(Action):
    """Declare the incident over."""


@action("reroute", "Reroute")
class Reroute(Remedy):
    """Send a service's traffic back to where it belongs."""


@action("purge", "Purge disk")
class Purge(Remedy):
    """Free the disk of a service."""


@action("renew_cert", "Renew certificate")
class RenewCert(Remedy):
    """Issue a service a new certificate."""


@action("throttle", "Throttle")
class Throttle(Remedy):
    """Cap what callers may send to a service."""


@action("warm_cache", "Warm cache")
class WarmCache(Remedy):
    """Fill a cache again before traffic does."""


@action("pause_batch", "Pause batch")
class PauseBatch(Remedy):
    """Stop batch work on a service's machines."""


@action("inspect", "Inspect a service")
class Inspect(Action):
    """Look at one service closely: what changed on it, and when."""

    target: ServiceName


@action("audit", "Audit an agent")
class Audit(Action):
    """Read one fleet agent's own signed record."""

    target: AgentName


@action("unreadable")
class Unreadable(Action):
    """A reply that is not an action: the error's name, and what to write instead. No reply can name
    it; the world answers it with a miscommunication."""

    error: Text
    detail: Text

    def __str__(self) -> str:
        return f"(unreadable reply: {self.error})"


def to_wire(action: Action) -> dict[str, Any]:
    """The flat JSON form of an action; values at their default are left out.

    >>> to_wire(Scale("payments", 4))
    {'action': 'scale', 'target': 'payments', 'replicas': 4}
    """
    wire: dict[str, Any] = {"action": action.verb}
    for argument in action.arguments:
        value = getattr(action, argument.name)
        if value != argument.default:
            wire[argument.name] = value
    return wire


MODEL_FAILED = "model_failed"


def failed_turn(reason: str) -> Unreadable:
    """The action of a turn in which a model could not answer."""
    return Unreadable(MODEL_FAILED, reason)


def is_failed_turn(action: Action) -> bool:
    return isinstance(action, Unreadable) and action.error == MODEL_FAILED
