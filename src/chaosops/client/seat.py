"""One seat at a table: wait for the turn, see the role's view, act."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any, NamedTuple

from chaosops.client.connection import Connection
from chaosops.core.dice import key_of
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.policies.llm.trained_on import require_trained_on, trained_on
from chaosops.policies.protocol import DecisionRequest, Policy, request_key
from chaosops.roles.view import RoleView
from chaosops.wire.decisions import sent_decision
from chaosops.wire.views import read_rules, read_view


class SeatTurn(NamedTuple):
    """What a seat receives when it is on turn. ``messages`` is the view as a prompt."""

    view: RoleView
    messages: list[dict[str, str]]
    action_schema: dict[str, Any]


class SeatOutcome(NamedTuple):
    """``over``: the episode has ended, and ``debrief`` holds the truth. ``abandoned``: ``message``
    says which role was missing."""

    status: str
    message: str
    debrief: dict[str, Any] | None


class SeatConnection(Connection):
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
        option = "--server-token-file (in Python server_token=)"
        super().__init__(url, "/seat", server_token, option, received)
        self.outcome: SeatOutcome | None = None
        try:
            seated = self.ask("sit", {"token": token})
        except BadInput:
            self.close()
            raise
        self.role = Role(seated["role"])
        self.table: str = seated["table"]
        self.rules = read_rules(seated["rules"])

    def wait(self) -> SeatTurn | None:
        """The next turn of this seat; None when the table has ended."""
        while self.outcome is None:
            kind, data = self.receive()
            if kind == "turn":
                view = read_view(data["view"], self.rules)
                return SeatTurn(view, data["messages"], data["action_schema"])
        return None

    def act(self, action: Mapping[str, Any]) -> None:
        """A flat JSON action, or ``{"reply": TEXT}``. After a refusal another can be sent."""
        self.send("act", action)
        while self.outcome is None and self.receive()[0] != "acted":
            pass

    def receive(self) -> tuple[str, dict[str, Any]]:
        kind, data = super().receive()
        if kind in ("over", "abandoned"):
            self.outcome = SeatOutcome(kind, data.get("message", ""), data.get("debrief"))
        return kind, data


def play_seat(seat: SeatConnection, policy: Policy, seed: int = 0) -> SeatOutcome:
    """Play a seat to the end of its table. ``seed`` is for the policy's random draws: players do
    not learn the seed of the episode."""
    if policy.sees_truth:
        raise BadInput(
            f"policy {policy.name} needs the truth, which a seat does not get; name another policy"
        )
    require_trained_on(policy.name, trained_on(policy), seat.rules.layout, pack_is_given=True)
    key = key_of("seat", seat.role, seed)
    while (turn := seat.wait()) is not None:
        request = DecisionRequest(turn.view, request_key(key, turn.view.step))
        decision = policy.decide([request])[0]
        seat.act(sent_decision(decision))
    assert seat.outcome is not None
    return seat.outcome
