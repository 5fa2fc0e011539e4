"""Five hundred drawn command lines: each ends with a documented code and never in a traceback.

Stubs stand where a command would listen, train, download, start a company, measure for seconds or
ask a real model: see ``quiet``. Everything before them is the real thing.
"""

from __future__ import annotations

import io
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from chaosops.cli import main
from chaosops.cli.commands import check, demo
from chaosops.core.errors import BadInput
from tests.cli.invocations import BOUNDS, commands, draw, make_files

NUMBER, CHUNK = 500, 25
LIMIT_S = 30  # of one invocation
# Where 1 is a documented answer: something was checked and found wanting.
MAY_FIND = {"conformance", "check", "arena", "seat", "verify"}


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return make_files(tmp_path_factory.mktemp("inputs") / "files")


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No network but loopback, no download, no model, no server that stays."""
    small = tmp_path / "small"
    small.mkdir()
    (small / "config.json").write_text("{}")
    stubs: dict[str, Any] = {
        "chaosops.server.app.serve": lambda *_, **__: None,
        "chaosops.cli.commands.train.train": _trained,
        "chaosops.cli.commands.train.train_trl": _trained,
        "chaosops.cli.commands.train.embedded_dense": lambda: small,
        "chaosops.cli.commands.weights.fetch_embedded": lambda tell: small,
        "chaosops.cli.commands.weights.embedded_dense": lambda: small,
        "chaosops.cli.commands.bench.bench": lambda seconds, pack: {"pack": pack},
        "chaosops.evaluation.leaks.detect_leaks": lambda *_, **__: {
            "curve": [{"train": 9, "words": 0.5}],
            "kept": True,
        },
        "chaosops.cli.commands.check.execute": wraps(check.execute)(lambda **_: 0),
        "chaosops.live.company.start_company": _no_company,
        "chaosops.cli.commands.demo.execute": wraps(demo.execute)(lambda **_: 0),
    }
    for name, stub in stubs.items():
        monkeypatch.setattr(name, stub)
    look_up = socket.getaddrinfo

    def only_loopback(host: Any, *rest: Any, **named: Any) -> Any:
        if host not in ("127.0.0.1", "localhost", "::1"):
            raise socket.gaierror(f"{host!r} is not on this machine")
        return look_up(host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", only_loopback)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for name in ("HF_TOKEN", "OPENAI_API_KEY", "CHAOSOPS_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    monkeypatch.setattr(sys, "argv", ["chaosops"])
    work = tmp_path / "cwd" / "deep"
    work.mkdir(parents=True)
    (work / "a-file").write_text("")
    monkeypatch.chdir(work)


def _trained(recipe: Any, base: Path, folder: Path, **_: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "adapter"


def _no_company(*_: Any, **__: Any) -> None:
    raise BadInput("a company would start here")


@pytest.fixture
def watchdog() -> Iterator[None]:
    def bark(*_: object) -> None:
        raise TimeoutError(f"an invocation took more than {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, bark)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int | None, str, str]:
    """The exit code, or None and the traceback."""
    signal.alarm(LIMIT_S)
    try:
        code: int | None = main(words)
    except BaseException:
        return None, "", traceback.format_exc()
    finally:
        signal.alarm(0)
    told = capsys.readouterr()
    return code, told.out, told.err


@pytest.mark.parametrize("chunk", range(NUMBER // CHUNK))
def test_no_command_line_ends_in_a_traceback(
    chunk: int,
    paths: list[str],
    quiet: None,
    watchdog: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    every = list(commands())
    for number in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        command, words = draw(number, every, paths)
        monkeypatch.setattr(sys, "stdin", io.StringIO("1\nhelp\n\x1b\n{}\n"))
        code, out, err = answer(words, capsys)
        allowed = {0, 2} | ({1} if command.words[0] in MAY_FIND else set())
        assert code in allowed, f"{number}: {words}\n{err}"
        assert "Traceback" not in out + err, f"{number}: {words}\n{err}"
        assert not {"\x1b", "\x07", "\x9b"} & set(out + err), f"{number}: {words}"
        if code == 2:
            last = err.splitlines()[-1]
            assert last.startswith("chaosops"), f"{number}: {words}\n{err}"


def test_every_command_and_option_is_drawn(paths: list[str]) -> None:
    every = list(commands())
    assert set(BOUNDS) <= {command.words for command in every}
    drawn: dict[tuple[str, ...], set[str]] = {}
    for number in range(NUMBER):
        command, words = draw(number, every, paths)
        drawn.setdefault(command.words, set()).update(word.split("=")[0] for word in words)
    for command in every:
        options = {option.name for option in command.options if option.name.startswith("-")}
        assert options <= drawn[command.words], command.words
