from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from multiprocessing.context import SpawnProcess
from pathlib import Path
from threading import Event, Thread

import pytest

from chaosops.core.errors import BadInput
from chaosops.workers import HERE, Engine, Tally, in_order, open_workers
from chaosops.workers.identity import identity
from chaosops.workers.processes import ProcessWorker
from chaosops.workers.serving import WorkerFailed, no_setup
from tests.workers import tasks

ITEMS = list(range(20))
SQUARES = [item * item for item in ITEMS]


@pytest.mark.parametrize("engine", [HERE, Engine(1), Engine(2)])
def test_results_come_in_order(engine: Engine) -> None:
    with open_workers(engine) as pool:
        assert (pool is None) == (engine.workers != 2)
        assert list(in_order(pool, tasks.square, ITEMS)) == SQUARES
        assert list(in_order(pool, tasks.square, [])) == []
        if pool is not None:
            assert sum(tally.items for tally in pool.tallies) == len(ITEMS)
            assert sum(tally.told for tally in pool.tallies) == 10 * len(ITEMS)


def test_what_work_prints_is_not_among_the_results(capfd: pytest.CaptureFixture[str]) -> None:
    with open_workers(Engine(2)) as pool:
        assert list(in_order(pool, tasks.talk, ITEMS)) == SQUARES
    told = capfd.readouterr()
    assert "a worker talks" in told.err
    assert "a worker talks" not in told.out


def test_the_work_of_a_killed_worker_is_done_again(tmp_path: Path) -> None:
    with open_workers(Engine(2)) as pool:
        assert pool is not None
        work = partial(tasks.die_once, tmp_path / "died")
        assert list(in_order(pool, work, ITEMS)) == SQUARES
        assert sorted(tally.restarts for tally in pool.tallies) == [0, 1]


def test_work_that_kills_every_worker_ends() -> None:
    with open_workers(Engine(2)) as pool, pytest.raises(BadInput, match=r"exit code -9.*fewer"):
        list(in_order(pool, tasks.die, [1]))


def test_workers_that_are_killed_again_and_again_end_in_one_line() -> None:
    """Also while they are started, and while the driver ends them."""
    over = Event()

    def kill_all(workers: list[ProcessWorker]) -> None:
        while not over.wait(0.02):
            for worker in workers:
                with suppress(AttributeError, ProcessLookupError, TypeError):
                    os.kill(worker._process.pid, signal.SIGKILL)  # type: ignore[arg-type]

    def work() -> None:
        with open_workers(Engine(2)) as pool:
            assert pool is not None
            killer = Thread(target=kill_all, args=(pool._workers,), daemon=True)
            killer.start()
            list(in_order(pool, tasks.rest, ITEMS))

    with pytest.raises(BadInput, match=r"4 times.*exit code -9"):
        work()
    over.set()


def test_a_worker_is_set_up_once() -> None:
    with open_workers(Engine(2), tasks.set_up) as pool:
        found = list(in_order(pool, tasks.count_setups, ITEMS))
    assert {times for _, times in found} == {1}
    assert os.getpid() not in {process for process, _ in found}


def test_errors_of_a_worker_reach_the_driver() -> None:
    with open_workers(Engine(2)) as pool:
        with pytest.raises(BadInput, match="did you mean 'oracle'"):
            list(in_order(pool, tasks.refuse, ITEMS))
        with pytest.raises(WorkerFailed, match="ZeroDivisionError"):
            list(in_order(pool, tasks.divide, ITEMS))
        assert list(in_order(pool, tasks.square, ITEMS)) == SQUARES, "the pool can be used again"


@pytest.mark.parametrize("name", ["version", "pack arena", "source"])
def test_a_worker_with_other_code_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from chaosops.workers import processes
    from chaosops.workers.identity import identity

    other = {**identity(), name: "other"}
    monkeypatch.setattr(processes, "identity", lambda: other)
    with pytest.raises(BadInput, match=f"{name} is .* there and other here; install the same"):
        open_workers(Engine(2)).__enter__()


def test_gpus_come_from_ray() -> None:
    with pytest.raises(BadInput, match="--ray local"):
        open_workers(Engine(2, gpus=1)).__enter__()


def test_workers_end_with_their_driver() -> None:
    script = (
        "import time\n"
        "from chaosops.workers import Engine, open_workers\n"
        "if __name__ == '__main__':\n"
        "    with open_workers(Engine(2)) as pool:\n"
        "        print(*(worker._process.pid for worker in pool._workers), flush=True)\n"
        "        time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as driver:
        assert driver.stdout is not None
        workers = [int(word) for word in driver.stdout.readline().split()]
        assert len(workers) == 2
        driver.send_signal(signal.SIGKILL)
    for _ in range(100):
        if not any(Path("/proc", str(worker)).exists() for worker in workers):
            return
        time.sleep(0.1)
    pytest.fail("a worker outlives its driver")


def test_more_processes_than_the_machine_can_use_are_refused() -> None:
    with (
        pytest.raises(BadInput, match=r"--workers 1000: this machine has \d+ cores"),
        open_workers(Engine(1000)),
    ):
        pass


def test_a_worker_that_is_killed_while_it_starts_is_started_again() -> None:
    worker = ProcessWorker(identity(), no_setup, 1)
    try:
        os.kill(worker._process.pid or 0, signal.SIGKILL)
        worker.require_ready()
        assert worker.call(Tally(), abs, -3) == 3
    finally:
        worker.close()


def test_a_worker_that_is_being_started_again_can_be_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worker = ProcessWorker(identity(), no_setup, 1)
    start, begun = SpawnProcess.start, Event()

    def slowly(process: SpawnProcess) -> None:
        begun.set()
        time.sleep(0.3)
        start(process)

    monkeypatch.setattr(SpawnProcess, "start", slowly)
    os.kill(worker._process.pid or 0, signal.SIGKILL)
    restart = Thread(target=worker._start_again)
    restart.start()
    assert begun.wait(10)
    worker.close()
    restart.join()
    worker._process.join(10)
    assert worker._process.exitcode == -signal.SIGKILL
