"""Parts of faults in one process, without a company: what a value does to requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chaosops.live.doses import GUILTY, HARMLESS, moved
from chaosops.live.faults import Part, bad_deploy, cache_stampede, load_faults, retry_storm
from chaosops.live.plan import SettingPlan
from chaosops.live.replica import Call, Failed
from chaosops.live.services import Cache
from chaosops.live.topology import SPECS

THRESHOLDS = [30, 35, 70]


class FakeReplica:
    """What parts use of a replica. ``values`` holds what was changed."""

    def __init__(self, service: str, folder: Path) -> None:
        self.service, self.slot, self.folder = service, 0, folder
        self.usual_count = self.count = SPECS[service].replicas
        self.busy_s = 0.0
        self.values: dict[str, int] = {}
        self.lines: list[str] = []
        self.tasks: list[asyncio.Task[Any]] = []
        self.reporter = SimpleNamespace(gauges={})
        self.client = SimpleNamespace(repeats={})
        self.shared: dict[str, Any] = {"cache": Cache(1000, 40)}

    def value(self, service: str, setting: str, usual: int) -> int:
        return self.values.get(setting, usual)

    def log(self, level: str, text: str) -> None:
        self.lines.append(text)

    def failed(self, why: str) -> Failed:
        return Failed(why)

    def spawn(self, work: Any) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    def end(self) -> None:
        for task in self.tasks:
            task.cancel()


async def _nothing() -> bytes:
    return b"ok"


async def served(part: Part, count: int, heavy: bool = False, gap_s: float = 0.0) -> int:
    """How many of so many requests are served."""

    async def one(ticket: int) -> bool:
        await asyncio.sleep(ticket * gap_s)
        try:
            await part.around(Call("buy", ticket, heavy, "storefront", b""), _nothing)
        except Failed:
            return False
        return True

    return sum(await asyncio.gather(*(one(ticket) for ticket in range(count))))


def at_all_doses(
    name: str, service: str, threshold: int, folder: Path, served_at: Callable[..., Awaitable[int]]
) -> list[int]:
    """How many requests are served at the usual value, at a harmless and at a harmful one."""
    fault = load_faults()[name]
    size = SettingPlan(service, name, fault.setting, fault.usual, threshold)
    shares = (0.0, HARMLESS, GUILTY, 2.0)

    async def play(share: float) -> int:
        replica = FakeReplica(service, folder / f"{share}")
        replica.folder.mkdir()
        if share:
            value = moved(fault.usual, fault.harmful, threshold, share)
            replica.values[fault.setting] = value
        part = fault.part(replica, size)  # type: ignore[arg-type]
        count = await served_at(part)
        replica.end()
        if share > 1:
            lines = {"".join(c for c in line if not c.isdigit()) for line in replica.lines}
            assert lines & {line.replace("{n}", "") for line in fault.logs}
        else:
            assert not replica.lines
        return count

    return [asyncio.run(play(share)) for share in shares]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_batch_work_beyond_the_threshold_leaves_no_slot(threshold: int, tmp_path: Path) -> None:
    async def play(part: Part) -> int:
        return await served(part, 4, gap_s=0.03)

    counts = at_all_doses("batch_starvation", "ledger", threshold, tmp_path, play)
    assert counts == [4, 4, 0, 0]


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("service", ["catalog", "orders"])
def test_buffers_beyond_the_threshold_are_kept(
    service: str, threshold: int, tmp_path: Path
) -> None:
    async def play(part: Part) -> int:
        first = await served(part, 20)
        return first + await served(part, 8, gap_s=0.01)

    usual, harmless, *harmful = at_all_doses("leak", service, threshold, tmp_path, play)
    assert usual == harmless == 28
    assert max(harmful) < 25


def test_memory_grows_until_it_is_full(tmp_path: Path) -> None:
    fault = load_faults()["leak"]
    size = SettingPlan("catalog", "leak", "buffer_mb", fault.usual, 30)

    async def play(value: int) -> float:
        replica = FakeReplica("catalog", tmp_path)
        part = fault.part(replica, size)  # type: ignore[arg-type]
        before = replica.reporter.gauges["memory_mb"]()
        replica.values["buffer_mb"] = value
        await served(part, 40)
        return float(replica.reporter.gauges["memory_mb"]() / before)

    assert asyncio.run(play(moved(100, 1, 30, HARMLESS))) < 1.1
    assert 2.5 < asyncio.run(play(moved(100, 1, 30, GUILTY))) < 4


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_repeats_beyond_the_threshold_drop_the_request(threshold: int, tmp_path: Path) -> None:
    async def play(part: Part) -> int:
        async def one(_: int) -> bool:
            call = Call("mail", 8, True, "orders", b"")
            try:
                return bool(await part.around(call, _nothing) == b"ok")
            except Failed:
                return False

        return sum(await asyncio.gather(*map(one, range(1 + part.value))))

    counts = at_all_doses("retry_storm", "outbox", threshold, tmp_path, play)
    assert counts == [1, 1, 0, 0]  # no request is done twice


def test_clients_repeat_what_they_may(tmp_path: Path) -> None:
    replica = FakeReplica("orders", tmp_path)
    sizes = {
        name: SettingPlan(name, "retry_storm", "retry_pct", 10, 30)
        for name in retry_storm.FAULT.services
    }
    own, other = retry_storm.FAULT.parts(replica, sizes)[::-1]  # type: ignore[arg-type]
    assert isinstance(own, retry_storm.Waiting)
    assert isinstance(other, retry_storm.Repeats)
    replica.values["retry_pct"] = 14
    assert replica.client.repeats["outbox"]() == 14
    assert "receipts" not in replica.client.repeats  # the mailer calls these


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_a_short_canary_lets_a_bug_through(threshold: int, tmp_path: Path) -> None:
    fault = load_faults()["bad_deploy"]
    size = SettingPlan("catalog", "bad_deploy", fault.setting, fault.usual, threshold)

    async def passes(share: float) -> bool:
        replica = FakeReplica("catalog", tmp_path)
        part = fault.part(replica, size)  # type: ignore[arg-type]
        assert isinstance(part, bad_deploy.Releases)
        build = bad_deploy.make_build(part.folder, 1, part.first)
        value = moved(fault.usual, fault.harmful, threshold, share)
        return all(bad_deploy.passes(build, minute) for minute in range(1, value + 1))

    assert not asyncio.run(passes(0.0))
    assert not asyncio.run(passes(HARMLESS))
    assert asyncio.run(passes(GUILTY))
    assert asyncio.run(passes(2.0))


def test_a_bad_build_fails_each_third_request_whichever_replica_takes_it(tmp_path: Path) -> None:
    """An alert needs failures in each second, so they must not come in bursts."""
    builds = [bad_deploy.make_build(tmp_path, 1, 5) for _ in range(8)]

    def fails(ticket: int) -> bool:
        try:
            builds[ticket % len(builds)].handle(ticket, 6.0)
        except AssertionError:
            return True
        return False

    failed = [fails(ticket) for ticket in range(48)]
    assert all(sum(failed[i : i + 3]) == 1 for i in range(46))


def test_a_bad_build_stays_until_a_rollback(tmp_path: Path) -> None:
    fault = load_faults()["bad_deploy"]
    size = SettingPlan("catalog", "bad_deploy", fault.setting, fault.usual, 30)

    async def play() -> list[int]:
        replica = FakeReplica("catalog", tmp_path)
        part = fault.part(replica, size)  # type: ignore[arg-type]
        replica.spawn(part.run())
        counts = [await served(part, 30)]
        replica.values["canary_min"] = 10
        await asyncio.sleep(2.6)
        counts.append(await served(part, 30))
        replica.values["canary_min"] = 40  # alone this does not help
        await part.mend("restart")
        await asyncio.sleep(0.6)
        counts.append(await served(part, 30))
        await part.mend("rollback")
        await asyncio.sleep(0.6)
        counts.append(await served(part, 30))
        replica.end()
        assert "worker crashed and came back" in replica.lines
        return counts

    assert asyncio.run(play()) == [30, 20, 20, 30]


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("replicas", [1, 2, 8])
def test_a_cache_below_the_threshold_never_hits(
    replicas: int, threshold: int, tmp_path: Path
) -> None:
    """However many replicas it has."""
    fault = cache_stampede.FAULT
    size = SettingPlan("cache", "cache_stampede", fault.setting, fault.usual, threshold)

    def misses(share: float) -> int:
        replica = FakeReplica("cache", tmp_path)
        (part,) = fault.parts(replica, {"cache": size})  # type: ignore[arg-type]
        cache: Cache = replica.shared["cache"]
        replica.values["cache_mb"] = moved(fault.usual, fault.harmful, threshold, share)
        part.changed()
        keys = [ticket * replicas % cache.working_set for ticket in range(200)]
        missed = []
        for at, key in enumerate(keys):
            missed.append(cache.get(key) is None)
            if at >= 4 and missed[at - 4]:  # the store takes as long as four reads
                cache.put(keys[at - 4], b"1")
        return sum(missed)

    assert misses(0.0) == misses(HARMLESS) == fault.working_set(size)
    assert misses(GUILTY) == misses(2.0) == 200


def test_the_store_has_no_time_for_all_cold_reads(tmp_path: Path) -> None:
    size = SettingPlan("cache", "cache_stampede", "cache_mb", 400, 30)

    async def play(cold: bool) -> int:
        replica = FakeReplica("ledger", tmp_path)
        (part,) = cache_stampede.FAULT.parts(replica, {"cache": size})  # type: ignore[arg-type]

        async def one(at: float, path: str) -> bool:
            await asyncio.sleep(at)
            try:
                await part.around(Call(path, round(at), False, "cache", b""), _nothing)
            except Failed:
                return False
            return True

        # What each of two replicas gets: orders and accounts, and three reads of eight products.
        calls = [one(n / 12, "order") for n in range(24)]
        if cold:
            calls += [one(n // 3 / 8, f"product/{n // 3}") for n in range(48)]
        failed = len(calls) - sum(await asyncio.gather(*calls))
        if failed:
            assert any("cold reads in a row" in line for line in replica.lines)
            assert "same key read 3 times at once" in replica.lines
        return failed

    assert asyncio.run(play(cold=False)) == 0
    assert asyncio.run(play(cold=True)) > 8
