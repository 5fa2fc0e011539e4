"""What a client of the machinery's socket sees when the company ends."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from chaosops.live.folder import base_folder, hold, new_folder
from chaosops.live.operator_socket import FILE, Operator
from chaosops.live.platform import VoidRun

ENDED = "the company ended before it answered; run the command again"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a company that is in nobody's way."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return new_folder("one")


def half(client: socket.socket) -> None:
    client.recv(1000)
    client.sendall(b'{"health": {"cac')


def nothing(client: socket.socket) -> None:
    client.recv(1000)


def reset(client: socket.socket) -> None:
    """What was asked is not read any more."""
    client.recv(1)


@pytest.fixture(params=[half, nothing, reset])
def ending(request: pytest.FixtureRequest, folder: Path) -> Iterator[Path]:
    """A company that ends while it is asked."""
    answer: Callable[[socket.socket], None] = request.param

    def serve() -> None:
        client, _ = listening.accept()
        with client:
            answer(client)

    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(str(folder / FILE))
        listening.listen()
        thread = Thread(target=serve)
        thread.start()
        yield folder
        thread.join()


def test_a_company_that_ends_while_it_is_asked_is_a_void_run(ending: Path) -> None:
    with closing(Operator(ending)) as operator:
        for _ in range(2):
            with pytest.raises(VoidRun) as found:
                operator.ask("status")
            assert str(found.value) == ENDED


def test_a_company_that_has_ended_is_a_void_run(folder: Path) -> None:
    with pytest.raises(VoidRun, match=ENDED):
        Operator(folder)
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(str(folder / FILE))
    with pytest.raises(VoidRun, match=ENDED):
        Operator(folder)


def test_status_tells_of_a_company_that_ends_at_this_moment(
    ending: Path, cli: Callable[..., object]
) -> None:
    lock = hold(ending)
    assert ending.parent == base_folder()
    told = str(cli("live", "status"))
    os.close(lock)
    assert "code=0" in told
    assert "one: process None" in told
