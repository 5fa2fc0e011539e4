"""Every message between a client and the server.

The models of a client's messages read them: those of ``/ws`` and of HTTP replace OpenEnv's, which
say only that there is an object. What the server sends is written without a model, because
checking it would take longer than the step. The tests check it against these models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler

from chaosops.server.options import Part, ResetOptions
from chaosops.wire.openenv import (
    ChaosOpsAction,
    ChaosOpsObservation,
    ChaosOpsState,
    Debrief,
    PromptMessage,
    RoleName,
    Rules,
    View,
)

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue

ErrorCode = Literal[
    "INVALID_JSON", "MESSAGE_TOO_LARGE", "UNKNOWN_TYPE", "VALIDATION_ERROR", "EXECUTION_ERROR",
    "CAPACITY_REACHED", "FACTORY_ERROR", "SESSION_ERROR", "IDLE_TIMEOUT",
    "NO_SUCH_SEAT", "SEAT_TAKEN_OVER", "NOT_STARTED", "NOT_YOUR_TURN", "TABLE_ENDED",
]  # fmt: skip


class _Shaped:
    """An object that is read later, with the schema of the models that will read it."""

    def __init__(self, *models: type[BaseModel]) -> None:
        self._models = models

    def __get_pydantic_json_schema__(
        self, _: object, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        shapes = [handler(model.__pydantic_core_schema__) for model in self._models]
        return shapes[0] if len(shapes) == 1 else {"anyOf": shapes}


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SubmissionOptions(_Message):
    """The options of ``reset`` in evaluation mode, where the owner's plan chooses the episode."""

    submission: str = Field(description="the token that the owner gave you")
    trained_on: dict[str, str] | None = Field(
        default=None, description="the packs that a model was trained on, and their versions"
    )
    format: str = "json"
    include: list[Part] = []


_Action = Annotated[dict[str, Any], _Shaped(ChaosOpsAction)]
_Observation = Annotated[dict[str, Any], _Shaped(ChaosOpsObservation)]


# Pydantic repeats their schemas where they are the shape of an object.
SHAPES = (ChaosOpsAction, ChaosOpsObservation, ResetOptions, SubmissionOptions)


# A client to /ws


class ResetMessage(_Message):
    """Start an episode. The answer is an observation."""

    type: Literal["reset"]
    data: Annotated[dict[str, Any], _Shaped(ResetOptions, SubmissionOptions)] = {}


class StepMessage(_Message):
    """Act for the role on turn. The answer is an observation."""

    type: Literal["step"]
    data: _Action


class StateMessage(_Message):
    """Ask for the state. It takes no turn."""

    type: Literal["state"]


class CloseMessage(_Message):
    """End the session. The server closes the connection."""

    type: Literal["close"]


class McpMessage(_Message):
    """A JSON-RPC request of MCP: ``tools/list`` or ``tools/call``."""

    type: Literal["mcp"]
    data: dict[str, Any]


# /ws to a client


class Observed(_Message):
    observation: _Observation
    reward: float | None = Field(
        default=None, description="of the step, or until the client's role is on turn again"
    )
    done: bool = False
    metadata: dict[str, Any] | None = None


class ObservationAnswer(_Message):
    """Whose turn it is, what that role sees, and the reward of the step before."""

    type: Literal["observation"]
    data: Observed


class StateAnswer(_Message):
    type: Literal["state"]
    data: ChaosOpsState


class McpAnswer(_Message):
    """A JSON-RPC response of MCP."""

    type: Literal["mcp"]
    data: dict[str, Any]


class Refused(_Message):
    code: ErrorCode
    message: str
    active_sessions: int | None = None
    max_sessions: int | None = None
    factory_name: str | None = None


class ErrorAnswer(_Message):
    """What the server refused, in one sentence. The episode goes on."""

    type: Literal["error"]
    data: Refused


# A client to /seat


class SeatToken(_Message):
    token: str


class SitMessage(_Message):
    """Take the seat of a token. The first message."""

    model_config = ConfigDict(strict=True)

    type: Literal["sit"]
    data: SeatToken


class ActMessage(_Message):
    """Act, when it is this seat's turn."""

    type: Literal["act"]
    data: ChaosOpsAction


# /seat to a client


class Seat(_Message):
    table: str
    role: RoleName
    rules: Rules
    turn_timeout_s: float


class SeatedAnswer(_Message):
    """The seat is taken. The incident starts when all four are."""

    type: Literal["seated"]
    data: Seat


class Turn(_Message):
    step: int
    limit: int
    role: RoleName
    view: View
    messages: list[PromptMessage] = Field(description="the view as a prompt")
    action_schema: dict[str, Any] = Field(description="JSON Schema of the role's legal actions")


class TurnAnswer(_Message):
    """It is this seat's turn."""

    type: Literal["turn"]
    data: Turn


class Acted(_Message):
    step: int = Field(description="steps taken")


class ActedAnswer(_Message):
    """The action was carried out."""

    type: Literal["acted"]
    data: Acted


class Ending(_Message):
    debrief: Debrief


class OverAnswer(_Message):
    """The episode is over. The server closes the connection."""

    type: Literal["over"]
    data: Ending


class Abandonment(_Message):
    message: str


class AbandonedAnswer(_Message):
    """A role did not act in time. The server closes the connection."""

    type: Literal["abandoned"]
    data: Abandonment


# HTTP


class ResetRequest(ResetOptions):
    """Options of ``reset``. The answer to an unknown one names the one that was meant, so it
    passes here."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"additionalProperties": False})


class StepRequest(_Message):
    """A plain HTTP request has no episode, so the answer is 409: steps are taken on ``/ws``."""

    model_config = ConfigDict(strict=True)

    action: _Action
    timeout_s: float | None = Field(default=None, gt=0)
    request_id: str | None = Field(default=None, max_length=255)
