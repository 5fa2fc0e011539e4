"""What reaches a terminal: no text of others steers it, and none is too much for it."""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import chaosops.cli
from chaosops.cli import main
from chaosops.cli.output import open_console
from chaosops.wire.recordings import recording_chain
from tests.conftest import Outcome

Cli = Callable[..., Outcome]
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202emoc\r\nfake line\x00"
CONTROLS = set(map(chr, [*range(9), *range(11, 32), *range(127, 160)])) | set("\u202e\u2066\ufeff")


def test_commands_print_through_one_place() -> None:
    for path in Path(chaosops.cli.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        calls = {node.id for node in called if isinstance(node, ast.Name)}
        ours = {
            name.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "chaosops.cli.output"
            for name in node.names
        }
        if path.name != "output.py":
            assert "print" not in used or "print" in ours, path
            assert "Console" not in calls, path


@pytest.fixture
def evil_recording(cli: Cli, tmp_path: Path) -> Path:
    """Escape sequences wherever a recording holds free text."""
    path = tmp_path / "episode.json"
    assert cli("run", "--policy", "heuristic", "--record", str(path)).code == 0
    content = json.loads(path.read_text())
    content["episode"]["team"] = f"good{EVIL}team"
    content["manifest"]["command"] = f"chaosops run{EVIL}"
    content["manifest"]["policy_status"] = {"kind": "model", "model": EVIL, "policy": EVIL}
    content["chain"] = recording_chain(content)
    path.write_text(json.dumps(content))
    return path


def test_a_recording_cannot_steer_the_terminal(cli: Cli, evil_recording: Path) -> None:
    pages = [evil_recording.with_name(name) for name in ("a.md", "a.html")]
    told = cli("replay", str(evil_recording), "--markdown", str(pages[0]), "--html", str(pages[1]))
    assert told.code == 0, told.err
    for text in (told.out, told.err, *(page.read_text(encoding="utf-8") for page in pages)):
        assert not CONTROLS & set(text)
    assert "good\ufffd]0;owned" in told.out
    assert not [line for line in told.out.splitlines() if line.startswith("fake line")]


@pytest.mark.parametrize(
    "words",
    [["run", "--policy", EVIL], ["run", EVIL], [EVIL], ["eval", "--out", "/dev/null/" + EVIL]],
)
def test_an_error_cannot_steer_the_terminal(cli: Cli, words: list[str]) -> None:
    told = cli(*(word.replace("\x00", "") for word in words))
    assert told.code == 2
    assert not CONTROLS & set(told.err)


def test_a_screen_shows_escapes_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setenv("FORCE_COLOR", "1")
    open_console().print(EVIL, style="bold", markup=False)
    text = shown.getvalue()
    assert "\x1b[1m" in text  # the style is Rich's own
    assert "\x1b]0" not in text
    assert "\x1b[2J" not in text
    assert not (CONTROLS - {"\x1b"}) & set(text)


def ascii_streams(monkeypatch: pytest.MonkeyPatch) -> tuple[io.BytesIO, io.BytesIO]:
    out, err = io.BytesIO(), io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="ascii", newline="\n"))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding="ascii", newline="\n"))
    return out, err


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, ["list"]),
        (0, ["run", "--pack", "arena", "--prompts"]),
        (0, ["watch", "--policy", "random", "--versus", "oracle", "--plain"]),
        (0, ["eval", "--policies", "heuristic", "--seeds", "1", "--no-figures"]),
        (0, ["eval", "--pack", "arena", "--policies", "random", "--seeds", "2", "--no-figures"]),
        (2, ["run", "--policy", "naïve → 🙂"]),
        (2, ["bench", "--policy", "…"]),
    ],
)
def test_an_ascii_terminal_is_enough(
    code: int, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    streams = ascii_streams(monkeypatch)
    assert main(words) == code
    sys.stdout.flush()
    sys.stderr.flush()
    out, err = (stream.getvalue().decode("ascii") for stream in streams)
    assert out if code == 0 else err.count("\n") == 1


def test_an_ascii_terminal_reads_well(monkeypatch: pytest.MonkeyPatch) -> None:
    out, _ = ascii_streams(monkeypatch)
    assert main(["arena", "show", "--truth"]) == 0
    assert " -> " in out.getvalue().decode("ascii")


def test_input_in_another_encoding_is_no_crash() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "chaosops", "play"],
        input=b"\xff\xfe\n",
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=60,
    )
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert b"the input ended" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_output_that_cannot_be_written_is_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "chaosops", "list"], stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 2
    assert done.stderr.decode() == "chaosops: No space left on device\n"
