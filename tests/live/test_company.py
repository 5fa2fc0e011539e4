"""A real company: it starts, serves, shows a fault and its repair, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.dice import Dice, key_of
from chaosops.core.errors import BadInput
from chaosops.live.company import Company, start_company, stop_company
from chaosops.live.doses import plan_with
from chaosops.live.faults import load_faults
from chaosops.live.folder import base_folder, find_running, new_folder, read_facts, running, sweep
from chaosops.live.lifecycle import run_lifecycle
from chaosops.live.operator_socket import Operator
from chaosops.live.topology import SERVICES

PLAN = plan_with(30)


def family(root: int) -> dict[int, str]:
    """All processes below one, by id, with the moment of their start, which makes an id unique."""
    parents: dict[int, int] = {}
    starts: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            starts[int(entry.name)] = fields[19] if fields[0] != "Z" else ""
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return {pid: starts[pid] for pid in found if starts.get(pid)}


def started(pid: int) -> str:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return fields[19] if fields[0] != "Z" else ""


def alive(pids: dict[int, str]) -> list[int]:
    return [pid for pid, start in pids.items() if started(pid) == start]


def shared_memory() -> set[str]:
    """Segments that no process uses. Other companies may run on the machine."""
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return {fields[1] for line in lines if (fields := line.split())[6] == "0"}


def wait_for_nothing(pids: dict[int, str], folder: Path, limit_s: float = 6.0) -> float:
    begin = time.monotonic()
    while alive(pids) or folder.exists():
        assert time.monotonic() - begin < limit_s, (alive(pids), folder.exists())
        time.sleep(0.05)
    return time.monotonic() - begin


@pytest.fixture(scope="module")
def company() -> Iterator[Company]:
    with start_company(PLAN, operator=True) as found:
        yield found


@pytest.fixture
def operator(company: Company) -> Iterator[Operator]:
    found = Operator(company.folder)
    yield found
    found.close()


def status(operator: Operator) -> dict[str, Any]:
    found: dict[str, Any] = operator.ask("status")
    return found


def test_all_services_are_called_and_well(operator: Operator) -> None:
    until = time.monotonic() + 30
    while (seen := status(operator)) and not all(one[6] for one in seen["readings"]):
        if time.monotonic() > until and seen["void"] > seen["seconds"] / 3:
            pytest.skip(f"the host disturbed {seen['void']} of {seen['seconds']} seconds")
        assert time.monotonic() < until, "every service is called"
        time.sleep(0.2)
    assert [one[0] for one in seen["readings"]] == [spec.name for spec in SERVICES]
    assert seen["lost"] <= 0.03 * seen["served"] + 2
    if not seen["void"]:  # other tests run on the same cores
        assert not seen["alerts"]


@pytest.mark.company
def test_a_fault_strikes_and_its_remedy_ends_it(operator: Operator) -> None:
    found = run_lifecycle(operator, load_faults()["capacity_cut"], "orders", 30)
    if found.void_s > 10:
        pytest.skip(f"the host disturbed {found.void_s} seconds")
    assert found.worked, found
    assert found.roots == ("orders",)


def test_a_replica_that_is_killed_is_started_again(operator: Operator) -> None:
    before = status(operator)["pids"]["catalog-0"]
    os.kill(before, signal.SIGKILL)
    until = time.monotonic() + 5
    while time.monotonic() < until and status(operator)["pids"]["catalog-0"] == before:
        time.sleep(0.1)
    assert status(operator)["pids"]["catalog-0"] != before


def test_replicas_that_leave_and_come_back_at_once_are_there_once(
    company: Company, operator: Operator
) -> None:
    """The second change comes while the processes of the first are about to end."""
    for count in (6, 8):
        operator.ask("set", service="orders", setting="replicas", value=count)
    time.sleep(3.5)
    known = [pid for name, pid in status(operator)["pids"].items() if name.startswith("orders-")]
    named = [
        pid
        for pid in family(company.pid)
        if Path(f"/proc/{pid}/comm").read_text().startswith("co-orders")
    ]
    assert sorted(known) == sorted(named)
    assert len(known) == 8


def test_metrics_are_prometheus_text(company: Company, operator: Operator) -> None:
    from urllib.request import urlopen

    port = status(operator)["ports"]["orders-0"]
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text = answer.read().decode()
    assert 'chaosops_setting{setting="timeout_ms"} 2000' in text
    assert 'chaosops_calls_total{callee="ledger"}' in text


def test_a_second_company_runs_beside_it_and_leaves_nothing(company: Company) -> None:
    shared = shared_memory()
    with start_company(PLAN) as other:
        assert {company.folder, other.folder} <= set(running())
        # This process will end both, and `live down` without a name does not.
        assert all(read_facts(one.folder)["owned"] for one in (company, other))
        assert not (other.folder / "machinery.sock").exists(), "no socket that leaves no record"
        pids = family(other.pid)
        assert len(pids) > 30
    wait_for_nothing(pids, other.folder, 1.0)
    assert shared_memory() <= shared
    company.require_running()


def test_a_detached_company_stays_until_it_is_ended() -> None:
    started = start_company(PLAN, name="stays", detached=True)
    with pytest.raises(BadInput, match="a company named stays is running"):
        new_folder("stays")
    pids = family(started.pid)
    assert not read_facts(started.folder)["owned"]
    stop_company(find_running("stays"))
    started.close()
    wait_for_nothing(pids, started.folder, 1.0)


def test_a_folder_without_its_company_is_removed() -> None:
    left = base_folder() / "left-behind"
    left.mkdir()
    (left / "lock").touch()
    assert "left-behind" in sweep()
    assert not left.exists()


def test_a_folder_whose_company_never_began_is_removed_after_a_minute() -> None:
    left = base_folder() / "never-began"
    left.mkdir()
    assert "never-began" not in sweep(), "its company may lock it in a moment"
    long_ago = time.time() - 100
    os.utime(left, (long_ago, long_ago))
    assert "never-began" in sweep()


def test_a_start_that_is_interrupted_leaves_its_name_free(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("chaosops.live.company._wait_until_ready", interrupt)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            start_company(PLAN, name="interrupted")
        until = time.monotonic() + 3
        while (base_folder() / "interrupted").exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert not (base_folder() / "interrupted").exists()


@pytest.mark.company
def test_twenty_kills_leave_nothing() -> None:
    """Of the parent, the control process, PostgreSQL or several replicas, at any moment."""
    dice = Dice(key_of("kills"))
    shared = shared_memory()
    for turn in range(20):
        with start_company(PLAN, operator=True) as company:
            operator = Operator(company.folder)
            pids = family(company.pid)
            replicas = list(status(operator)["pids"].values())
            time.sleep(dice.unit())
            if turn % 4 == 3:
                operator.ask("set", service="orders", setting="replicas", value=12)
            victim = (company.pid, _named(pids, "co-control"), _named(pids, "postgres"))[turn % 3]
            pids |= family(company.pid)
            for replica in dice.sample(replicas, dice.between(0, 5)):
                os.kill(replica, signal.SIGKILL)
            os.kill(victim, signal.SIGKILL)
            took = wait_for_nothing(pids, company.folder)
            operator.close()
        print(f"kill {turn}: nothing was left after {took:.2f}s")
    assert shared_memory() <= shared


def _named(pids: dict[int, str], name: str) -> int:
    return min(pid for pid in pids if Path(f"/proc/{pid}/comm").read_text().strip() == name)
