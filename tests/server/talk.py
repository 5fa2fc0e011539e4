"""A plain WebSocket to the server: JSON out, JSON in, nothing in between."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from websockets.sync.client import ClientConnection, connect


class Line:
    """``heard`` keeps every text that came in, as it came."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[str] = []

    def ask(self, kind: str, /, **data: Any) -> dict[str, Any]:
        message: dict[str, Any] = {"type": kind}
        if kind not in ("state", "close"):
            message["data"] = data
        return self.say(json.dumps(message))

    def say(self, message: str | bytes) -> dict[str, Any]:
        self.socket.send(message)
        return self.hear()

    def hear(self) -> dict[str, Any]:
        text = str(self.socket.recv(timeout=60))
        self.heard.append(text)
        answer: dict[str, Any] = json.loads(text)
        return answer

    def reset(self, **options: Any) -> dict[str, Any]:
        return _observation(self.ask("reset", **options))

    def step(self, **action: Any) -> dict[str, Any]:
        return _observation(self.ask("step", **action))

    def state(self) -> dict[str, Any]:
        answer = self.ask("state")
        assert answer["type"] == "state", answer
        state: dict[str, Any] = answer["data"]
        return state


def _observation(answer: dict[str, Any]) -> dict[str, Any]:
    """The observation with its reward and whether it was the last."""
    assert answer["type"] == "observation", answer
    content = answer["data"]
    return {**content["observation"], "reward": content["reward"], "done": content["done"]}


@contextmanager
def line_to(address: str, path: str = "/ws") -> Iterator[Line]:
    with connect(f"{address}{path}", proxy=None, max_size=10_000_000) as socket:
        yield Line(socket)


def until(condition: Callable[[], bool]) -> None:
    """Wait as long as a busy machine may need."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
