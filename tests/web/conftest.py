"""A real server on loopback, and a person's way to talk to it."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import uvicorn

from chaosops.access.limits import Limits
from chaosops.web.app import build_app
from chaosops.web.routes import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Message = dict[str, Any]


@contextmanager
def serving(settings: Settings, port: int = 0) -> Iterator[str]:
    """The address of a server that runs in a thread of its own."""
    app = build_app(settings)
    config = uvicorn.Config(app, log_level="warning", ws="none", lifespan="off")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", port)) as listener:
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            server.force_exit = True
            thread.join(timeout=20)


@contextmanager
def visiting(settings: Settings) -> Iterator[httpx.Client]:
    with serving(settings) as address, httpx.Client(base_url=address, timeout=120) as client:
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with visiting(Settings(results=(), limits=Limits(seats_per_client=32))) as one:
        yield one


def messages(response: httpx.Response) -> list[Message]:
    assert response.status_code == 200, response.text
    return [json.loads(line) for line in response.text.splitlines()]


@pytest.fixture(scope="module")
def episode(client: httpx.Client) -> Callable[..., list[Message]]:
    def ask(**query: str) -> list[Message]:
        return messages(client.get("/api/episode", params=query))

    return ask


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """A server without models, for the browser."""
    from tests.web.browsing import POLICIES

    with serving(Settings(policies=POLICIES, results=())) as where:
        yield where


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Playwright keeps an event loop running, so other modules could not start one."""
    from playwright.sync_api import sync_playwright

    from tests.browser import find_browser

    with sync_playwright() as playwright:
        one = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield one
        one.close()
