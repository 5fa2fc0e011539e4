"""An evaluation by workers leaves the same bytes as one without."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chaosops.cli.repeatable import repeatable
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.journal import Journal
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.results import JOURNAL_NAME, save
from chaosops.report.written import derived_files, judged
from chaosops.workers import HERE, Engine, Pool, on_ray, open_workers
from tests.conftest import Outcome

Cli = Callable[..., Outcome]

MATRIX = scenarios(pack="arena", tiers=[Tier.HARD], seeds=12)
POLICIES = ["random", "oversight=heuristic,others=oracle"]


@pytest.fixture(params=["processes", "ray"])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "ray":
        return Engine(2, request.getfixturevalue("cluster"))
    return Engine(2)


def files(
    folder: Path,
    engine: Engine = HERE,
    watch: Callable[[Pool, int], None] | None = None,
    **more: Any,
) -> dict[str, bytes]:
    """Evaluate, and read what was written. ``watch`` is called with the number of episodes."""
    folder.mkdir(exist_ok=True)
    with open_workers(engine) as pool:

        def tell(policy: str, done: int, total: int, turns: int) -> None:
            if watch is not None and pool is not None:
                watch(pool, done)

        with Journal(folder / JOURNAL_NAME, **more) as journal:
            results = evaluate(POLICIES, MATRIX, journal=journal, progress=tell, pool=pool)
        save(results, folder)
        for name, text in derived_files(results, judged(results, pool=pool)).items():
            (folder / name).write_text(text)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return files(tmp_path_factory.mktemp("serial"))


def test_workers_change_no_byte(engine: Engine, serial: dict[str, bytes], tmp_path: Path) -> None:
    assert len(serial) == 5
    assert files(tmp_path / "other", engine) == serial


def test_a_worker_that_is_killed_changes_no_byte(
    engine: Engine, serial: dict[str, bytes], tmp_path: Path
) -> None:
    killed: list[int] = []
    restarts = 0

    def watch(pool: Pool, done: int) -> None:
        nonlocal restarts
        restarts = sum(tally.restarts for tally in pool.tallies)
        if done >= 3 and not killed:
            killed.append(pool.submit(os.getpid).result())
            os.kill(killed[0], signal.SIGKILL)

    assert files(tmp_path / "other", engine, watch) == serial
    assert killed
    assert restarts == 1


class Stopped(Exception):
    pass


def test_what_was_stopped_is_resumed_with_or_without_workers(
    engine: Engine, serial: dict[str, bytes], tmp_path: Path
) -> None:
    def stop(pool: Pool, done: int) -> None:
        if done == 5:
            raise Stopped

    for name, then in (("serial", HERE), ("workers", engine)):
        folder = tmp_path / name
        with pytest.raises(Stopped):
            files(folder, engine, stop)
        journal = (folder / JOURNAL_NAME).read_bytes()
        assert journal.count(b"\n") == 6
        assert serial[JOURNAL_NAME].startswith(journal), "the journal is written in serial order"
        assert files(folder, then, resume=True) == serial


def test_models_are_loaded_in_workers_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def load(name: str) -> None:
        raise AssertionError("loaded in the driver")

    monkeypatch.setattr("chaosops.evaluation.players.load_team", load)
    files(tmp_path / "other", Engine(2))


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    folder.mkdir()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def test_the_command_writes_the_same_files(cli: Cli, tmp_path: Path) -> None:
    words = ["eval", "--policies", "random,oracle", "--matrix", "published", "--no-figures"]
    found: list[tuple[str, dict[str, bytes]]] = []
    for more in ((), ("--workers", "2"), ("--workers=2",)):
        with inside(tmp_path / str(len(found))):
            outcome = cli(*words, "--seeds", "1", "--out", "out", *more)
            assert outcome.code == 0, outcome.err
            assert cli("verify", "out", *more[:2]).code == 0
            written = {path.name: path.read_bytes() for path in Path("out").iterdir()}
            found.append((outcome.out, written))
    assert found[0] == found[1] == found[2]


def test_the_command_starts_a_ray_of_its_own(serial: dict[str, bytes], tmp_path: Path) -> None:
    pytest.importorskip("ray")
    script = "import sys; from chaosops.cli import main; sys.exit(main())"
    words = ["eval", "--policies", POLICIES[0], "--team", POLICIES[1], "--out", str(tmp_path)]
    matrix = ["--pack", "arena", "--tiers", "hard", "--seeds", "12", "--no-figures"]
    command = [sys.executable, "-c", script, *words, *matrix, "--ray", "local", "--workers", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in ("episodes.jsonl", "summary.json", "monitor.json"):
        assert (tmp_path / name).read_bytes() == serial[name]
    noise = [line for line in done.stderr.splitlines() if "episodes, " not in line]
    assert not noise, "Ray is quiet"


STRANGER = """
import os, subprocess, sys
from chaosops.workers import Engine, open_workers
with open_workers(Engine(1, ray="local")):
    import ray
    at = ray.get_runtime_context().gcs_address
    env = {name: value for name, value in os.environ.items() if name != "RAY_AUTH_TOKEN"}
    code = f"import ray; ray.init({at!r}, log_to_driver=False)"
    env["RAY_AUTH_MODE"] = "disabled"
    print(subprocess.run([sys.executable, "-c", code], env=env, stderr=-3).returncode)
    env["RAY_AUTH_TOKEN"], env["RAY_AUTH_MODE"] = os.environ["RAY_AUTH_TOKEN"], "token"
    print(subprocess.run([sys.executable, "-c", code], env=env, stderr=-3).returncode)
"""


def test_a_ray_of_its_own_refuses_strangers() -> None:
    pytest.importorskip("ray")
    done = subprocess.run(
        [sys.executable, "-c", STRANGER], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["1", "0"], done.stderr


def test_verify_finds_the_same_with_workers(cli: Cli, tmp_path: Path) -> None:
    files(tmp_path / "eval")
    path = tmp_path / "eval" / "results.json"
    path.write_text(path.read_text().replace('"noop"', '"revert"', 3))
    alone, helped = (cli("verify", str(tmp_path), *more) for more in ((), ("--workers", "2")))
    assert alone.code == 1
    assert alone.out == helped.out


def test_mistakes_are_one_line(cli: Cli, tmp_path: Path) -> None:
    words = ["eval", "--no-figures", "--out", str(tmp_path / "out"), "--workers", "2"]
    assert "did you mean 'oracle'" in cli(*words, "--policies", "orcale").refusal
    assert "--ray local" in cli(*words, "--gpus", "1").refusal
    assert "from 1 to 1024" in cli(*words[:-1], "0").refusal


def test_a_missing_extra_says_its_pip_line(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    said = cli("eval", "--no-figures", "--out", str(tmp_path / "out"), "--ray", "auto").refusal
    assert "[ray]" in said
    assert "--workers N" in said


def test_another_cluster_is_not_taken(cli: Cli, tmp_path: Path, cluster: str) -> None:
    said = cli("eval", "--no-figures", "--out", str(tmp_path), "--ray", "127.0.0.1:1").refusal
    assert "uses Ray at" in said


def test_a_cluster_must_answer() -> None:
    pytest.importorskip("ray")
    with pytest.raises(OSError, match="refused"):
        on_ray._require_answer("ray://127.0.0.1:1")
    on_ray._require_answer("auto")


def test_the_manifest_names_no_workers() -> None:
    words = "chaosops eval --workers 4 --ray auto --gpus=0.5 --max-dollars 2 --force --out a"
    assert repeatable(words) == "chaosops eval --out a"
