"""One seat at a table: wait for the turn, see the role's view, act."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import IO, Any, NamedTuple, Self

from chaosops.client.connecting import NOT_REACHED, refusal, socket_options, socket_url
from chaosops.core.dice import STRIDE, key_of
from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.vocabulary import Role
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.roles.view import RoleView
from chaosops.wire.decisions import sent_decision
from chaosops.wire.views import read_rules, read_view


class SeatTurn(NamedTuple):
    """What a seat is told when it is on turn. ``messages`` is the view as a prompt."""

    view: RoleView
    messages: list[dict[str, str]]
    action_schema: dict[str, Any]


class SeatOutcome(NamedTuple):
    """``over``: the episode has ended, ``debrief`` tells the truth. ``abandoned``: ``message``
    says which role stayed away."""

    status: str
    message: str
    debrief: dict[str, Any] | None


class SeatConnection:
    """
    with SeatConnection(url, token) as seat:
        while (turn := seat.wait()) is not None:
            seat.act({"action": "noop"})
        print(seat.outcome)
    """

    def __init__(
        self,
        url: str,
        token: str,
        received: IO[str] | None = None,
        server_token: str | None = None,
    ) -> None:
        """``received`` gets every message of the server, one on a line. A server that asks for a
        token gets ``server_token``, or ``CHAOSOPS_TOKEN`` from the environment."""
        try:
            from websockets.exceptions import WebSocketException
            from websockets.sync.client import connect
        except ImportError:
            raise MissingExtra("a seat", "websockets", "client") from None
        self._lost: tuple[type[Exception], ...] = (WebSocketException, OSError)
        self._received = received
        self.outcome: SeatOutcome | None = None
        address = socket_url(url, "/seat")
        self._open = ExitStack()
        try:
            opened = connect(address, **socket_options(address, server_token))
            self._socket = self._open.enter_context(opened)
        except (*NOT_REACHED, WebSocketException) as error:
            option = "--server-token-file (in Python server_token=)"
            raise BadInput(refusal(url, error, option)) from None
        try:
            seated = self._ask("sit", {"token": token}, "seated")
        except BadInput:
            self.close()
            raise
        self.role = Role(seated["role"])
        self.table: str = seated["table"]
        self._rules = read_rules(seated["rules"])

    def wait(self) -> SeatTurn | None:
        """The next turn of this seat; None when the table has ended."""
        while self.outcome is None:
            kind, data = self._next()
            if kind == "turn":
                view = read_view(data["view"], self._rules)
                return SeatTurn(view, data["messages"], data["action_schema"])
            if kind == "error":
                raise BadInput(data["message"])
        return None

    def act(self, action: Mapping[str, Any]) -> None:
        """A flat JSON action, or ``{"reply": TEXT}``. After a refusal another can be sent."""
        self._ask("act", action, "acted")

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, kind: str, data: Mapping[str, Any], answer: str) -> dict[str, Any]:
        with suppress(*self._lost):  # the server may have said why before it closed
            self._socket.send(json.dumps({"type": kind, "data": dict(data)}))
        while True:
            got, content = self._next()
            if got == answer:
                return content
            if got == "error":
                raise BadInput(content["message"])
            if self.outcome is not None:
                return {}

    def _next(self) -> tuple[str, dict[str, Any]]:
        try:
            text = self._socket.recv()
        except self._lost as error:
            raise BadInput(f"the connection to the server was lost: {error}") from None
        if self._received is not None:
            self._received.write(f"{text!s}\n")
        kind, data = _read(text)
        if kind in ("over", "abandoned"):
            self.outcome = SeatOutcome(kind, data.get("message", ""), data.get("debrief"))
        return kind, data


def play_seat(seat: SeatConnection, policy: Policy, seed: int = 0) -> SeatOutcome:
    """Play a seat to the end of its table. ``seed`` is for the policy's random draws: players do
    not learn the seed of the episode."""
    if policy.sees_truth:
        raise BadInput(f"policy {policy.name} needs the truth, which no seat is given")
    key = key_of("seat", seat.role, seed)
    while (turn := seat.wait()) is not None:
        decision = policy.decide([DecisionRequest(turn.view, key + turn.view.step * STRIDE)])[0]
        seat.act(sent_decision(decision))
    assert seat.outcome is not None
    return seat.outcome


def _read(text: str | bytes) -> tuple[str, dict[str, Any]]:
    try:
        message = json.loads(text)
        kind, data = message["type"], message["data"]
    except (ValueError, TypeError, KeyError, RecursionError):
        kind, data = None, None
    if not isinstance(kind, str) or not isinstance(data, dict):
        raise BadInput("the server says something else than a ChaosOps server; check --url")
    return kind, data
