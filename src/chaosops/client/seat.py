"""A seat at a table, from the player's side: wait for the turn, see one's own view, act."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import IO, Any, NamedTuple, Self
from urllib.parse import urlsplit

from chaosops.access.tokens import token_headers
from chaosops.client.refusals import cure_of
from chaosops.core.dice import STRIDE, key_of
from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.loopback import is_loopback
from chaosops.core.vocabulary import Role
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.roles.view import RoleView
from chaosops.wire.decisions import sent_decision
from chaosops.wire.views import read_rules, read_view

MAX_MESSAGE_BYTES = 4_000_000


class SeatTurn(NamedTuple):
    """What a seat is given when it is on turn. ``messages`` is the view as a prompt."""

    view: RoleView
    messages: list[dict[str, str]]
    action_schema: dict[str, Any]


class SeatOutcome(NamedTuple):
    """``over``: played to its end, ``debrief`` tells the truth. ``abandoned``: ``message``
    says who stayed away."""

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
        """``received`` gets every message of the server, a line each. ``server_token`` is for a
        server that asks for one; without it ``CHAOSOPS_TOKEN`` is sent, if set."""
        try:
            from websockets.exceptions import WebSocketException
            from websockets.sync.client import connect
        except ImportError:
            raise MissingExtra("a seat", "websockets", "server") from None
        self._lost: tuple[type[Exception], ...] = (WebSocketException, OSError)
        self._received = received
        self.outcome: SeatOutcome | None = None
        address = socket_url(url)
        direct = {"proxy": None} if is_loopback(address) else {}
        self._open = ExitStack()
        try:
            line = connect(
                address,
                max_size=MAX_MESSAGE_BYTES,
                additional_headers=token_headers(server_token),
                **direct,
            )
            self._socket = self._open.enter_context(line)
        # A ValueError is a port or a proxy in the environment that is none; an ImportError is a
        # kind of proxy that needs another package.
        except (OSError, WebSocketException, ValueError, ImportError) as error:
            cure = cure_of(error, "--server-token-file (in Python server_token=)")
            raise BadInput(f"cannot reach a ChaosOps server at {url}: {error}{cure}") from None
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
        """A flat JSON action, or ``{"reply": TEXT}``. One that is refused can be sent anew."""
        self._ask("act", action, "acted")

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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


def _read(text: str | bytes) -> tuple[str, dict[str, Any]]:
    try:
        message = json.loads(text)
        kind, data = message["type"], message["data"]
    except (ValueError, TypeError, KeyError, RecursionError):
        kind, data = None, None
    if not isinstance(kind, str) or not isinstance(data, dict):
        raise BadInput("the server says something else than a ChaosOps server; check --url")
    return kind, data


def play_seat(seat: SeatConnection, policy: Policy, seed: int = 0) -> SeatOutcome:
    """Play a seat to the end of its table. ``seed`` is for whatever the policy draws: the
    episode's own is not told to those who play it."""
    if policy.sees_truth:
        raise BadInput(f"policy {policy.name} needs the truth, which no seat is given")
    key = key_of("seat", seat.role, seed)
    while (turn := seat.wait()) is not None:
        decision = policy.decide([DecisionRequest(turn.view, key + turn.view.step * STRIDE)])[0]
        seat.act(sent_decision(decision))
    assert seat.outcome is not None
    return seat.outcome


def _has_host(rest: str) -> bool:
    try:
        parts = urlsplit(f"http://{rest}")
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # half of a bracket, or a port that is none
        return False


def socket_url(url: str) -> str:
    """
    >>> socket_url("http://127.0.0.1:8000/")
    'ws://127.0.0.1:8000/seat'
    """
    scheme, found, rest = url.partition("://")
    schemes = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}
    if not found or scheme not in schemes or not _has_host(rest):
        raise BadInput(f"{url!r} is no server's address; write one such as http://127.0.0.1:8000")
    return f"{schemes[scheme]}://{rest.rstrip('/')}/seat"
