"""Nothing overwritten, nothing mixed: used folders, two processes, kills and full disks."""

from __future__ import annotations

import json
import random
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chaosops.core.lock import locked
from tests.conftest import Outcome

Cli = Callable[..., Outcome]

SMALL = ["--matrix", "published", "--tiers", "easy", "--seeds", "1", "--no-figures"]
SEEDS = 60
ARENA = f"--pack arena --tiers easy --seeds {SEEDS} --policies random,heuristic --no-figures"
COMMAND = [sys.executable, "-m", "chaosops", "eval", *ARENA.split(), "--side-by-side", "4"]
COMMAND += ["--out", "out"]  # the manifest names it: equal in all folders


def eval_in(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    # Without git there is no commit that somebody could change between two runs.
    return subprocess.run(
        [*COMMAND, *more], cwd=folder, env={"PATH": ""}, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("unbroken")


@pytest.fixture(scope="module")
def printed(place: Path) -> str:
    """What an evaluation prints that nobody breaks off."""
    done = eval_in(place)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def unbroken(printed: str, place: Path) -> dict[str, bytes]:
    """The files of that evaluation."""
    return contents(place / "out")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_used_folder_is_refused(cli: Cli, tmp_path: Path) -> None:
    out = str(tmp_path)
    assert cli("eval", "--policies", "random", *SMALL, "--out", out)[0] == 0
    before = contents(tmp_path)
    code, _, err = cli("eval", "--policies", "oracle", *SMALL, "--out", out)
    assert code == 2
    assert err == (
        f"chaosops: {out} holds an evaluation (results.json, episodes.jsonl); --resume goes on "
        "with it, --force replaces it, or choose another --out\n"
    )
    assert contents(tmp_path) == before
    (tmp_path / "episodes.jsonl").unlink()
    code, _, err = cli("eval", "--policies", "random", *SMALL, "--out", out, "--resume")
    assert code == 2
    assert "holds results without their journal" in err
    assert cli("eval", "--policies", "no such", *SMALL, "--out", out, "--force")[0] == 2
    assert (tmp_path / "results.json").read_bytes() == before["results.json"]
    assert cli("eval", *SMALL, "--out", out, "--force", "--resume")[0] == 2


def test_force_leaves_nothing_of_the_former_evaluation(cli: Cli, tmp_path: Path) -> None:
    out, fresh = tmp_path / "out", tmp_path / "fresh"
    arena = ["--pack", "arena", "--tiers", "easy", "--seeds", "2", "--policies", "random"]
    assert cli("eval", *arena, "--out", str(out))[0] == 0
    assert (out / "monitor.json").exists()
    stale = out / "episodes" / "fake" / "0001.json"
    stale.parent.mkdir(parents=True)
    stale.touch()
    (out / "notes.txt").write_text("mine")
    assert cli("eval", "--policies", "oracle", *SMALL, "--out", str(out), "--force")[0] == 0
    assert not stale.exists()
    names = {path.name for path in out.iterdir() if path.is_file()}
    assert names == {"results.json", "summary.json", "table.md", "episodes.jsonl", "notes.txt"}
    assert cli("eval", "--policies", "oracle", *SMALL, "--out", str(fresh))[0] == 0
    heads = [json.loads((at / "results.json").read_text())["episodes"] for at in (out, fresh)]
    assert heads[0] == heads[1]


def test_the_command_of_a_manifest_can_be_pasted(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["eval", "--policies", "oracle", *SMALL, "--out", "my 'results'; ls"]
    assert cli(*words)[0] == 0
    assert cli(*words, "--resume")[0] == 0
    assert cli(*words, "--force")[0] == 0
    manifest = json.loads((tmp_path / words[-1] / "results.json").read_text())["manifest"]
    assert shlex.split(manifest["command"]) == ["chaosops", *words]


def test_a_folder_in_use_is_refused(cli: Cli, tmp_path: Path) -> None:
    with locked(tmp_path):
        holder = int((tmp_path / ".lock").read_text())
        for words in (
            ["eval", "--policies", "random", *SMALL],
            ["eval", "--policies", "random", *SMALL, "--resume"],
            ["eval", "--policies", "random", *SMALL, "--force"],
            ["train", "smoke", "--no-figures"],
        ):
            said = cli(*words, "--out", str(tmp_path)).refusal
            assert f"in use by another chaosops (process {holder}); wait until it has" in said
    assert list(tmp_path.iterdir()) == []


def test_of_two_processes_one_plays(tmp_path: Path, unbroken: dict[str, bytes]) -> None:
    started = [
        subprocess.Popen(
            COMMAND, cwd=tmp_path, env={"PATH": ""}, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    said = [process.communicate()[1] for process in started]
    codes = [process.returncode for process in started]
    assert sorted(codes) == [0, 2]
    (refusal,) = (err for err, code in zip(said, codes, strict=True) if code == 2)
    winner = started[codes.index(0)]
    # Whoever comes late finds the results instead.
    assert f"process {winner.pid}" in refusal or "holds an evaluation" in refusal
    assert contents(tmp_path / "out") == unbroken


def test_twelve_kills_end_in_the_files_of_an_unbroken_run(
    tmp_path: Path, printed: str, unbroken: dict[str, bytes]
) -> None:
    dice = random.Random(12)
    total = 2 * SEEDS
    journal = tmp_path / "out" / "episodes.jsonl"
    # Spread over the whole run, the last ones after the last episode: while files are written.
    codes = []
    for kill in range(12):
        wanted = 1 + min(total, total * kill // 10)
        started = subprocess.Popen(
            [*COMMAND, "--resume"], cwd=tmp_path, env={"PATH": ""},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + 120
        while not journal.exists() or journal.read_bytes().count(b"\n") < wanted:
            assert time.monotonic() < deadline
            if started.poll() is not None:
                break
            time.sleep(0.002)
        time.sleep(dice.random() * 0.02)
        started.kill()
        codes.append(started.wait())
    assert set(codes) <= {-signal.SIGKILL, 0}
    assert codes.count(-signal.SIGKILL) >= 10  # one or two may have been quicker than the kill
    done = eval_in(tmp_path, "--resume")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("resuming: ")
    assert done.stdout == printed
    assert contents(tmp_path / "out") == unbroken


@contextmanager
def disk_of(size: int) -> Iterator[None]:
    """No file may grow beyond ``size``: writing fails as on a full disk, for root too."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_full_disk_keeps_the_last_good_state(tmp_path: Path, unbroken: dict[str, bytes]) -> None:
    """At several moments: in the journal's header, among the episodes, in results.json."""
    sizes = {name: len(content) for name, content in unbroken.items()}
    journal = sizes["episodes.jsonl"]
    assert sizes["results.json"] < journal  # so the journal is what fails
    out = tmp_path / "out"
    for room in (100, journal // 3, journal // 2, journal - 1):
        with disk_of(room):
            done = eval_in(tmp_path, "--resume")
        assert done.returncode == 2
        lines = [line for line in done.stderr.splitlines() if not line.startswith("resuming")]
        assert len(lines) == 1, done.stderr
        assert "episodes.jsonl: File too large" in lines[0]
        assert ".partial" not in str(sorted(out.iterdir()))
        if (out / "episodes.jsonl").exists():
            assert unbroken["episodes.jsonl"].startswith((out / "episodes.jsonl").read_bytes())
            assert (out / "episodes.jsonl").read_bytes().endswith(b"\n")
    assert eval_in(tmp_path, "--resume").returncode == 0
    assert contents(out) == unbroken


def test_a_disk_that_is_full_at_the_end_leaves_the_former_results(cli: Cli, tmp_path: Path) -> None:
    words = ["eval", "--policies", "random", *SMALL, "--out", str(tmp_path)]
    assert cli(*words)[0] == 0
    before = contents(tmp_path)
    with disk_of(len(before["table.md"])):  # results.json is larger, the journal complete
        code, _, err = cli(*words, "--resume")
    assert code == 2
    assert f"cannot write {tmp_path / 'results.json'}: File too large; free some space" in err
    assert contents(tmp_path) == before


def test_a_full_stdout_is_one_line() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "chaosops", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "chaosops: No space left on device\n"
