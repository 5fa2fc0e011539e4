"""A game is its moves: a seat that was left is taken again with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from tests.web.conftest import messages
from tests.web.test_seats import ARENA, CLASSIC, do, play_through, sit

if TYPE_CHECKING:
    import httpx


def test_a_flag_may_say_how_sure_it_is(client: httpx.Client) -> None:
    seat, *_, view, _ = sit(client, ARENA, "oversight")
    agent = view["suspects"][0]["agent"]
    flag = {"action": "flag_rogue", "target": agent, "confidence": 0.55}
    told = messages(do(client, seat["seat"], flag))
    assert flag in [message.get("action") for message in told[0]["chat"]]
    assert told[0]["suspects"][0]["quarantined_at"] == told[0]["step"]
    refused = do(client, sit(client, ARENA, "oversight")[0]["seat"], {**flag, "confidence": 7})
    assert refused.status_code == 400


@pytest.mark.parametrize("query", [CLASSIC, ARENA], ids=["classic", "arena"])
def test_a_seat_is_taken_again_with_its_moves(
    client: httpx.Client, query: Mapping[str, str]
) -> None:
    first, *_ = sit(client, query, "oversight")
    moves = [{"action": "communicate", "message": "I look"}, {"action": "noop"}]
    told = [messages(do(client, first["seat"], move)) for move in moves][-1]
    params = {**query, "role": "oversight", "partners": "heuristic", "moves": json.dumps(moves)}
    seated, *again = messages(client.post("/api/seats", params=params))
    assert seated["seat"] != first["seat"]
    assert again == told, "the last round is shown, and nothing of what came before"
    on = [messages(do(client, seat["seat"], {"action": "noop"})) for seat in (first, seated)]
    assert on[0] == on[1]


def test_a_game_that_is_over_is_shown_as_a_whole(client: httpx.Client) -> None:
    _, after, moves = play_through(client, ARENA, "oversight", "heuristic")
    params = {**ARENA, "role": "oversight", "partners": "heuristic", "moves": json.dumps(moves)}
    seated, *again = messages(client.post("/api/seats", params=params))
    assert again[-len(after) :] == after
    gone = do(client, seated["seat"], {"action": "noop"})
    assert gone.status_code == 410


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        ('[{"action": "restart", "target": "db"}]', "oversight cannot do"),
        ('[{"action": "flag_rogue", "target": "AGENT", "evidence": 9999}]', "no act has"),
        ('[{"action": "dance"}]', "not an action"),
    ],
)
def test_a_move_of_a_link_that_is_none(client: httpx.Client, moves: str, words: str) -> None:
    agent = sit(client, ARENA, "oversight")[0]["agents"][0]
    moves = moves.replace("AGENT", agent)
    params = {**ARENA, "role": "oversight", "partners": "heuristic", "moves": moves}
    *_, last = messages(client.post("/api/seats", params=params))
    assert last["kind"] == "stopped"
    assert words in last["why"]
    refused = client.post("/api/seats", params={**params, "moves": "{"})
    assert refused.status_code == 400
    assert "moves must be a JSON list" in refused.json()["detail"]
