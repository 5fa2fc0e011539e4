"""A table as its owner and its players reach it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from chaosops import load_policy
from chaosops.client.seat import SeatConnection, SeatOutcome, play_seat
from tests.server.conftest import Running
from tests.server.talk import Line


def open_table(served: Running, **options: Any) -> dict[str, Any]:
    answer = httpx.post(f"{served.url}/tables", json=options)
    assert answer.status_code == 200, answer.text
    opened: dict[str, Any] = answer.json()
    return opened


def table_state(served: Running, table: str) -> dict[str, Any]:
    state: dict[str, Any] = httpx.get(f"{served.url}/tables/{table}").json()
    return state


def sit(line: Line, token: str) -> dict[str, Any]:
    return line.ask("sit", token=token)


def play_all(served: Running, tokens: dict[str, str], policy: str) -> list[SeatOutcome]:
    def play_one(token: str) -> SeatOutcome:
        with SeatConnection(served.url, token) as seat:
            return play_seat(seat, load_policy(policy), seed=5)

    with ThreadPoolExecutor(4) as threads:
        return list(threads.map(play_one, tokens.values()))
