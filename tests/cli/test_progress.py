"""Long work is never silent: a bar on a terminal, lines on stderr elsewhere."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops import Team
from chaosops.cli import progress
from chaosops.cli.progress import Progress
from tests.conftest import Outcome
from tests.fake_model import FakeModel

Cli = Callable[..., Outcome]
LINE = re.compile(r"^.+: \d+ of \d+ (episodes|steps at most|companies), [\d:]+ so far")
WHOLE = re.compile(LINE.pattern + r", [\d.,]+/s, [\d:]+ left", re.MULTILINE)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0.02)


def test_a_pipe_gets_lines_with_count_rate_and_time_left(tmp_path: Path) -> None:
    code = (
        "from chaosops.cli import main, progress; progress.EVERY_S = 0.02; raise SystemExit(main())"
    )
    words = ["eval", "--policies", "heuristic", "--seeds", "20", "--no-figures"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words, "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert WHOLE.search(done.stderr), done.stderr
    assert re.search(r"turns$", done.stderr, re.MULTILINE)
    assert "so far" not in done.stdout
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["check", "--pack", "arena", "--seeds", "2", "--contract-seeds", "1"],
        ["arena", "investigate", "--seeds", "30"],
        ["arena", "reading", "--policy", "heuristic", "--seeds", "20"],
        ["verify", "src/chaosops/trained/evaluations/classic_published"],
    ],
    ids=lambda words: words[0],
)
def test_long_commands_say_how_far_they_are(
    cli: Cli, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    code, out, err = cli(*words)
    assert code == 0, err
    assert "so far" in err
    assert "so far" not in out


def test_a_slow_model_in_one_episode_is_followed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(FakeModel):
        def decide(self, requests):  # type: ignore[no-untyped-def]
            time.sleep(0.1)
            return super().decide(requests)

    monkeypatch.setattr("chaosops.cli.commands.run.load_team", lambda name: Team.of(Slow("oracle")))
    code, out, err = cli("run", "--policy", "slow")
    assert code == 0
    assert WHOLE.search(err), err
    assert "ROGUE CAUGHT" in out


def test_a_terminal_gets_a_bar() -> None:
    code = (
        "import time; from chaosops.cli.progress import Progress\n"
        "with Progress() as bar:\n"
        "    for i in range(3): bar.update('work', i, 3); time.sleep(0.15)\n"
        "    bar.say('a line that stays')"
    )
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    subprocess.run([sys.executable, "-c", code], stderr=theirs, env=env, check=True, timeout=60)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "work" in shown
    assert "/3" in shown
    assert "a line that stays" in shown
    assert "so far" not in shown


def test_work_without_an_end_tells_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as bar:
        bar.update("fetching", 0, None)
        time.sleep(0.1)
    assert re.search(r"fetching: 0:00:0\d so far\n", capsys.readouterr().err)
