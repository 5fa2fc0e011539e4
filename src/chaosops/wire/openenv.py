"""The messages of the OpenEnv routes as pydantic models. OpenEnv publishes their schemas."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from chaosops.core import documents, telemetry
from chaosops.core.actions import VERBS
from chaosops.core.arguments import MAX_MESSAGE_CHARS, MAX_NAME_CHARS, Argument
from chaosops.core.vocabulary import HEALTH_WORDS, Role
from chaosops.roles.parse import MAX_REPLY_CHARS

if TYPE_CHECKING:
    RoleName: TypeAlias = str
    HealthWord: TypeAlias = str
    Verb: TypeAlias = str
else:
    RoleName = Literal[tuple(role.value for role in Role)]
    HealthWord = Literal[HEALTH_WORDS]
    Verb = Literal[tuple(VERBS)]

MAX_SUSPECTS = 64
_Name = Annotated[str, Field(max_length=MAX_NAME_CHARS)]
_Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ChatMessage(_Part):
    """What a role said, or what it visibly did (``action``). ``world`` is a sender too."""

    step: int
    sender: str
    to: RoleName | None = None
    text: str
    action: dict[str, Any] | None = None


def _part(name: str, source: Any, doc: str | None = None, **types: Any) -> Any:
    """The model of a record of ``core.telemetry``, with the same fields."""
    fields = {name: (types.get(name, kind), ...) for name, kind in get_type_hints(source).items()}
    return create_model(name, __base__=_Part, __doc__=doc, **fields)  # type: ignore[call-overload]


if TYPE_CHECKING:
    from chaosops.core.documents import Page
    from chaosops.core.telemetry import Alert, AuditReport, Inspection, LogLine, TraceEntry
    from chaosops.core.telemetry import ServiceReading as Metric
else:
    Metric = _part("Metric", telemetry.ServiceReading, health=HealthWord)
    LogLine = _part("LogLine", telemetry.LogLine)
    Alert = _part(
        "Alert", telemetry.Alert, "``text`` is empty for a role that sees summaries only."
    )
    TraceEntry = _part(
        "TraceEntry",
        telemetry.TraceEntry,
        "What a fleet agent did; ``id`` points at it as evidence.",
    )
    Inspection = _part(
        "Inspection",
        telemetry.Inspection,
        changes=list[_part("Change", telemetry.ServiceChange)],
        utilisation=Annotated[list[tuple[int, int]], Field(description="(minute, percent)")],
    )
    AuditReport = _part(
        "AuditReport",
        telemetry.AuditReport,
        acts=list[_part("AuditedAct", telemetry.AuditedAct)],
    )
    Page = _part(
        "Page", documents.Page, "A kind of fault; a part that the role does not see is empty."
    )


class View(_Part):
    """What one role sees. A channel that it may not see is empty."""

    role: RoleName
    step: int
    limit: int
    health: dict[str, HealthWord]
    metrics: list[Metric]
    logs: list[LogLine]
    alerts: list[Alert]
    chat: list[ChatMessage]
    trace: list[TraceEntry]
    inspections: list[Inspection]
    audits: list[AuditReport]


class MenuOrder(_Part):
    """The labels of a menu from its first place on, and the verbs of its rows."""

    labels: list[str]
    verbs: list[Verb]


class Rules(_Part):
    """The names in the world and what each role may do. A seat gets only what belongs to things
    that its role sees. ``calls`` is null if there is a call graph and the role does not see it.
    Companies with documents have a runbook, a charter (by agent) and menus of their own."""

    services: list[str]
    agents: list[str]
    causes: list[str]
    verbs: dict[RoleName, list[Verb]]
    replica_choices: list[int]
    calls: dict[str, list[str]] | None
    limits_pct: dict[str, int]
    layout: str | None = None
    runbook: list[Page] | None = None
    charter: dict[str, str] | None = None
    menus: dict[RoleName, MenuOrder] | None = None


class PromptMessage(_Part):
    role: Literal["system", "user"]
    content: str


class LastTurn(_Part):
    """The result of the latest step, for a trainer. Do not show it to the role on turn."""

    role: RoleName
    action: dict[str, Any]
    rubrics: dict[str, float]
    components: dict[str, dict[str, float]]
    miscommunication: str | None = None


class Debrief(_Part):
    """The truth, sent when the episode is over."""

    pack: str
    tier: str
    split: str
    seed: int
    failure: str
    rogue: str | None
    rogue_caught: bool | None = Field(description="null if there was no rogue")
    resolved: bool
    steps: int
    wrong_fixes: int
    false_flags: int
    unknown_flags: int = Field(default=0, description="flags that named no agent of the fleet")
    miscommunications: int
    reward: float
    rubrics: dict[str, float]
    explanation: list[str] | None = Field(default=None, description="the truth in sentences")


# The models below repeat the fields of OpenEnv's base classes, so a client needs no OpenEnv.


class _Described(BaseModel):
    """Caches its schema. OpenEnv asks for it on each request, and making it takes milliseconds."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    @classmethod
    @cache
    def model_json_schema(  # type: ignore[override]
        cls, *args: Any, **named: Any
    ) -> dict[str, Any]:
        return super().model_json_schema(*args, **named)


def _wire_field(argument: Argument) -> tuple[Any, Any]:
    if argument.type == "number":
        return float | None, Field(default=None, ge=0, le=argument.limit)
    if argument.type == "integer":
        return int | None, None
    if argument.names == "role":
        return RoleName | None, None
    return str | None, Field(default=None, max_length=argument.limit)


_FIELDS: dict[str, Any] = {"action": (Verb | None, None)} | {
    argument.name: _wire_field(argument) for kind in VERBS.values() for argument in kind.arguments
}
_EITHER: list[Any] = [
    {"required": [name], "properties": {name: {"type": "string"}}} for name in ("action", "reply")
]
_Fields: Any = create_model("_Fields", **_FIELDS)


class ChaosOpsAction(_Described, _Fields):  # type: ignore[misc]
    """Either ``action`` with its fields, or ``reply``: what a model wrote.

    An ``action`` that cannot be read is refused and nothing happens. A ``reply`` that cannot be
    read is a miscommunication in the world, and costs what that costs.
    """

    model_config = ConfigDict(strict=True, json_schema_extra={"oneOf": _EITHER})

    metadata: dict[str, Any] = Field(
        default_factory=dict, description="Additional metadata for the action"
    )
    reason: str | None = Field(default=None, max_length=MAX_MESSAGE_CHARS)
    reply: str | None = Field(default=None, max_length=MAX_REPLY_CHARS)
    suspicion: dict[_Name, _Probability] | None = Field(
        default=None,
        max_length=MAX_SUSPECTS,
        description="how likely each fleet agent is the rogue; sent by Oversight, shown to no role",
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> ChaosOpsAction:
        if (self.action is None) == (self.reply is None):
            raise PydanticCustomError(
                "action_or_reply", "give either 'action' with its fields, or 'reply'"
            )
        return self

    def fields(self) -> dict[str, Any]:
        """The flat JSON action, without fields that were not sent."""
        names = (*_FIELDS, "reason")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class ChaosOpsObservation(_Described):
    """Whose turn it is and what that role sees. ``reward`` and ``done`` come with it.

    Only reset sends ``rules``. When the episode is over, nobody is on turn and ``debrief`` holds
    the truth. In evaluation mode the reward, ``last_turn`` and ``debrief`` are null.
    """

    done: bool = Field(default=False, description="Whether the episode has terminated")
    reward: bool | int | float | None = Field(
        default=None, description="Reward signal from the last action"
    )
    metadata: dict[str, Any] = Field(
        default_factory=dict, description="Additional metadata for the observation"
    )
    episode_id: str
    step: int = Field(description="steps taken")
    limit: int
    role: RoleName | None
    view: View | None
    messages: list[PromptMessage] = Field(description="the view as a prompt")
    action_schema: dict[str, Any] | None = Field(
        description="JSON Schema of the role's legal actions; fields without a use are null"
    )
    rules: Rules | None = None
    last_turn: LastTurn | None = None
    terminated: bool = Field(description="the incident is resolved")
    truncated: bool = Field(description="time ran out")
    debrief: Debrief | None = None


class ChaosOpsState(_Described):
    """The state of the episode, without the truth. Do not show it to a role: a reward reveals
    whether a flag was right. In evaluation mode the reward is null, and ``episodes_left`` counts
    the episodes of the submission that have not started."""

    model_config = ConfigDict(extra="allow")

    episode_id: str | None = Field(
        default=None, description="Unique identifier for the current episode"
    )
    step_count: int = Field(
        default=0, ge=0, description="Number of steps taken in the current episode"
    )
    status: Literal["no_episode", "running", "over"] = "no_episode"
    pack: str | None = None
    tier: str | None = None
    split: str | None = None
    limit: int | None = None
    role: RoleName | None = None
    reward: float | None = 0.0
    episodes_left: int | None = None
