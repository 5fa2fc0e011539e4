"""Players that never come, leave or are cut off: nobody hangs."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from chaosops import load_policy
from chaosops.client.seat import SeatConnection, SeatOutcome, play_seat
from tests.conftest import Outcome
from tests.server.conftest import Running, StartServer
from tests.server.tables import open_table, sit, table_state
from tests.server.talk import line_to, until


def test_a_seat_that_never_comes_is_named(served: Running) -> None:
    opened = open_table(served, seed=1, turn_timeout_s=2)
    with line_to(served.socket, "/seat") as sre:
        assert sit(sre, opened["tokens"]["sre"])["type"] == "seated"
        refused = sre.ask("act", action="noop")
        assert refused["data"]["code"] == "NOT_STARTED"
        outcome = sre.hear()
    assert outcome["type"] == "abandoned"
    assert outcome["data"]["message"] == (
        "oversight, dev, manager did not sit down within 2 s: the incident never started"
    )
    state = table_state(served, opened["table"])
    assert (state["status"], state["debrief"]) == ("abandoned", None)


def test_a_seat_that_goes_away_leaves_an_abandoned_table(served: Running) -> None:
    opened = open_table(served, seed=1, turn_timeout_s=3)
    tokens = opened["tokens"]

    def stay(token: str) -> SeatOutcome:
        with SeatConnection(served.url, token) as seat:
            return play_seat(seat, load_policy("random"))

    def leave_on_the_first_turn(token: str) -> None:
        with SeatConnection(served.url, token) as seat:
            assert seat.wait() is not None

    with ThreadPoolExecutor(4) as threads:
        staying = [threads.submit(stay, tokens[role]) for role in ("sre", "oversight", "manager")]
        threads.submit(leave_on_the_first_turn, tokens["dev"]).result()
        outcomes = [future.result() for future in staying]
    assert {outcome.status for outcome in outcomes} == {"abandoned"}
    assert outcomes[0].message == "dev did not act within 3 s: the table is abandoned"
    assert outcomes[0].debrief is None


def test_wires_that_are_cut_without_a_word_end_the_same_way(served: Running) -> None:
    opened = open_table(served, seed=1, turn_timeout_s=3)
    with ExitStack() as stack:
        lines = {
            role: stack.enter_context(line_to(served.socket, "/seat")) for role in opened["tokens"]
        }
        for role, line in lines.items():
            assert sit(line, opened["tokens"][role])["type"] == "seated"
        assert lines["sre"].hear()["type"] == "turn"
        for role in ("sre", "dev", "oversight"):
            lines[role].socket.socket.close()
        outcome = lines["manager"].hear()
    assert outcome["data"]["message"] == "sre did not act within 3 s: the table is abandoned"


def test_a_command_tells_of_an_abandoned_table(
    served: Running, cli: Callable[..., Outcome]
) -> None:
    opened = open_table(served, seed=1, turn_timeout_s=3)
    code, _, err = cli("seat", "--url", served.url, "--token", opened["tokens"]["dev"])
    assert code == 1
    missing = "sre, oversight, manager did not sit down within 3 s"
    assert err == f"chaosops: {missing}: the incident never started\n"


def test_a_lost_seat_is_taken_again_and_the_latest_counts(served: Running) -> None:
    opened = open_table(served, seed=1, max_steps=4, turn_timeout_s=30)
    tokens = opened["tokens"]
    with line_to(served.socket, "/seat") as first:
        assert sit(first, tokens["sre"])["type"] == "seated"
    with (
        line_to(served.socket, "/seat") as sre,
        line_to(served.socket, "/seat") as sre_again,
        line_to(served.socket, "/seat") as oversight,
        line_to(served.socket, "/seat") as dev,
        line_to(served.socket, "/seat") as manager,
    ):
        for line, role in ((sre, "sre"), (oversight, "oversight"), (dev, "dev")):
            assert sit(line, tokens[role])["data"]["role"] == role
        assert sit(manager, tokens["manager"])["type"] == "seated"
        assert sre.hear()["type"] == "turn"
        assert dev.ask("act", action="noop")["data"]["code"] == "NOT_YOUR_TURN"
        assert sit(sre_again, tokens["sre"])["type"] == "seated"
        assert sre_again.hear()["type"] == "turn"
        assert sre.hear()["data"]["code"] == "SEAT_TAKEN_OVER"
        with pytest.raises(ConnectionClosed):
            sre.hear()
        refused = sre_again.ask("act", action="restart")
        assert "restart needs target" in refused["data"]["message"]
        assert sre_again.ask("act", reply="what?")["type"] == "acted"
        assert oversight.hear()["type"] == "turn"
        for line in (oversight, dev, manager):
            if line is not oversight:
                assert line.hear()["type"] == "turn"
            assert line.ask("act", action="noop")["type"] == "acted"
        assert [line.hear()["type"] for line in (sre_again, oversight, dev, manager)] == [
            "over"
        ] * 4
    with line_to(served.socket, "/seat") as late:
        assert sit(late, tokens["dev"])["type"] == "seated"
        assert late.hear()["type"] == "over"


def test_tables_are_limited_and_forgotten(start_server: StartServer) -> None:
    served = start_server("--max-tables", "2", "--idle-timeout", "2")
    tables = [open_table(served, seed=seed)["table"] for seed in range(2)]
    refused = httpx.post(f"{served.url}/tables", json={})
    assert refused.status_code == 429
    said = refused.json()["detail"]
    assert said.startswith("all 2 tables are taken")
    assert said.endswith("--max-tables")
    # Nobody sat down, and nobody asked how it ended.
    until(lambda: httpx.get(f"{served.url}/tables/{tables[0]}").status_code == 404)
    assert open_table(served, seed=1)["turn_timeout_s"] == 2


def test_tables_that_have_ended_take_no_place(start_server: StartServer) -> None:
    served = start_server("--max-tables", "1")
    ended = []
    for _ in range(6):
        ended.append(open_table(served, turn_timeout_s=0.01)["table"])
        until(lambda: table_state(served, ended[-1])["status"] == "abandoned")
    statuses = [httpx.get(f"{served.url}/tables/{table}").status_code for table in ended]
    assert statuses == [404, 404, 200, 200, 200, 200], "the oldest are forgotten"


def test_nobody_plays_on_at_a_table_that_was_abandoned(served: Running) -> None:
    opened = open_table(served, seed=1, max_steps=2, turn_timeout_s=0.5)
    with ExitStack() as stack:
        for token in opened["tokens"].values():
            sit(stack.enter_context(line_to(served.socket, "/seat")), token)
        until(lambda: table_state(served, opened["table"])["status"] == "abandoned")
    for role in ("sre", "oversight"):
        with line_to(served.socket, "/seat") as late:
            late.socket.send(json.dumps({"type": "sit", "data": {"token": opened["tokens"][role]}}))
            with suppress(ConnectionClosed):  # the server may have hung up already
                late.socket.send(json.dumps({"type": "act", "data": {"action": "noop"}}))
            heard = [late.hear()["type"] for _ in range(2)]
            assert heard == ["seated", "abandoned"]
    state = table_state(served, opened["table"])
    assert (state["status"], state["step"], state["debrief"]) == ("abandoned", 0, None)
