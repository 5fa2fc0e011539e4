"""The fields of actions: what a value names, its bounds, and how the prompt shows it."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Annotated, Any, NamedTuple

from chaosops.core.vocabulary import Role

MAX_NAME_CHARS = 100
MAX_MESSAGE_CHARS = 2_000


class Argument(NamedTuple):
    """What a field of an action holds."""

    names: str  # what a value names
    form: str  # stands for a value in the prompt's JSON forms
    type: str = "string"  # as JSON Schema calls it
    limit: int = MAX_NAME_CHARS  # the most characters, or the largest number
    listed_in: str = ""  # the attribute of the Rulebook that lists the legal values
    values: tuple[Any, ...] = ()  # the legal values, where they are always the same
    about: str = ""  # a description for tools
    use: str = ""  # when to fill it in; the prompt shows this for optional arguments
    name: str = ""
    default: Any = MISSING  # MISSING: the argument is required

    @property
    def required(self) -> bool:
        return self.default is MISSING

    def in_form(self) -> str:
        value = f'"{self.form}"' if self.type == "string" else self.form
        return f'"{self.name}":{value}'


ServiceName = Annotated[
    str, Argument("service", "SERVICE", listed_in="services", about="a service")
]
AgentName = Annotated[str, Argument("agent", "AGENT", listed_in="agents", about="a fleet agent")]
CauseName = Annotated[str, Argument("cause", "FAILURE", listed_in="causes")]
Replicas = Annotated[int, Argument("count", "N", "integer", 10_000, listed_in="replica_choices")]
Text = Annotated[str, Argument("text", "TEXT", limit=MAX_MESSAGE_CHARS)]
Recipient = Annotated[str | None, Argument("role", "ROLE", values=tuple(Role), use="in private")]
# A list of values, because not every endpoint supports minimum and maximum.
Probability = Annotated[
    float, Argument("probability", "0-1", "number", 1, values=tuple(i / 20 for i in range(21)))
]
TraceId = Annotated[
    int | None, Argument("entry", "N", "integer", 1_000_000, about="the id of a trace entry")
]
