"""Parts of faults on a process that is written here: what they do at each value."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chaosops.live.certificates import Authority
from chaosops.live.client import CallFailed, NoAddress
from chaosops.live.doses import GUILTY, HARMLESS, moved
from chaosops.live.faults import Fault, Part, load_faults
from chaosops.live.plan import SettingPlan
from chaosops.live.replica import Call, Failed
from chaosops.live.services import Spool
from chaosops.live.topology import BUY, FAR_REGION, PROVIDER, RATES, RESOLVER, rate_at

THRESHOLDS = [30, 35, 70]
CLOCK = SimpleNamespace(now=1e6)  # it goes on from one company to the next


class FakeReplica:
    """What parts use of a process."""

    def __init__(self, service: str, folder: Path | None = None) -> None:
        self.service = service
        self.slot = 0
        self.values: dict[tuple[str, str], int] = {}
        self.lines: list[str] = []
        self.shared: dict[str, Any] = {}
        self.reporter = SimpleNamespace(gauges={})
        self.client = SimpleNamespace(serves_stale=True, ttl_s=0.0, call=None)
        if folder is not None:
            self.folder = folder
            self.shared["spool"] = Spool(folder)

    def value(self, service: str, setting: str, usual: int) -> int:
        return self.values.get((service, setting), usual)

    def log(self, level: str, text: str) -> None:
        self.lines.append(text)

    def failed(self, why: str) -> Failed:
        return Failed(why)


def fault_at(name: str, service: str, threshold: int) -> tuple[Fault, SettingPlan]:
    fault = load_faults()[name]
    return fault, SettingPlan(service, name, fault.setting, fault.usual, threshold)


def parts_in(replica: FakeReplica, fault: Fault, size: SettingPlan) -> Part:
    (part,) = fault.parts(replica, {size.service: size})  # type: ignore[arg-type]
    return part


def set_to(replica: FakeReplica, part: Part, fault: Fault, share: float) -> None:
    size = part.size
    value = moved(fault.usual, fault.harmful, size.threshold_pct, share) if share else fault.usual
    replica.values[size.service, size.setting] = value
    part.changed()


def request(ticket: int = 1, path: str = "", caller: str = "") -> Call:
    return Call(path, ticket, False, caller, b"content")


async def failures(
    part: Part, calls: list[Call], gap_s: float, proceed: Callable[[], Awaitable[Any]]
) -> list[bool]:
    """Which of these calls fail, on a clock that moves by ``gap_s`` with each of them."""
    asyncio.get_running_loop().time = lambda: CLOCK.now  # type: ignore[method-assign]
    found = []
    for call in calls:
        CLOCK.now += gap_s
        try:
            await part.around(call, proceed)
            found.append(False)
        except (Failed, CallFailed):
            found.append(True)
    return found


async def served() -> bytes:
    return b"ok"


def run_meter(part: Part, calls: list[Call], rate: float) -> list[bool]:
    return asyncio.run(failures(part, calls, 1 / rate, served))


def logs_fit(fault: Fault, lines: list[str]) -> bool:
    def words(text: str) -> str:
        return "".join(letter for letter in text.replace("{n}", "") if not letter.isdigit())

    return {words(line) for line in lines} <= {words(line) for line in fault.logs}


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("service", ["mailer", "storefront"])
def test_a_provider_refuses_all_once_the_demand_is_beyond_the_allowance(
    service: str, threshold: int
) -> None:
    fault, size = fault_at("quota_hit", service, threshold)
    replica = FakeReplica(PROVIDER)
    part = parts_in(replica, fault, size)
    calls = [request(caller=service)] * 120
    for share in (0.0, HARMLESS):
        set_to(replica, part, fault, share)
        assert not any(run_meter(part, calls, RATES[BUY]))
    assert not any(run_meter(part, [request(caller="orders")] * 120, 400))
    for share in (GUILTY, 2.0):
        set_to(replica, part, fault, share)
        assert all(run_meter(part, calls, RATES[BUY])[60:])
    set_to(replica, part, fault, 0.0)
    assert not any(run_meter(part, calls, RATES[BUY])[60:])


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("service", ["storefront", "accounts"])
def test_the_other_region_takes_what_the_threshold_allows(service: str, threshold: int) -> None:
    fault, size = fault_at("misrouting", service, threshold)
    here, there = FakeReplica(service), FakeReplica(FAR_REGION)
    router, region = parts_in(here, fault, size), parts_in(there, fault, size)

    async def call(callee: str, path: str, ticket: int) -> bytes:
        assert callee == FAR_REGION
        try:
            return bytes(await region.around(request(ticket, path, service), served))
        except Failed as error:
            raise CallFailed(callee, str(error)) from None

    here.client.call = call
    calls = [request(ticket) for ticket in range(600)]
    for share in (0.0, HARMLESS):
        set_to(here, router, fault, share)
        assert not any(run_meter(router, calls, rate_at(service)))
    for share in (GUILTY, 2.0):
        set_to(here, router, fault, share)
        late = run_meter(router, calls, rate_at(service))[100:]
        away = (fault.usual - router.value) / fault.usual
        assert sum(late) / len(late) == pytest.approx(away, abs=0.01)
    assert here.lines
    assert logs_fit(fault, here.lines)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("service", ["storefront", "catalog"])
def test_a_resolver_is_silent_once_it_is_asked_too_often(service: str, threshold: int) -> None:
    fault, size = fault_at("resolver_outage", service, threshold)
    asking, resolver = FakeReplica(service), FakeReplica(RESOLVER)
    addresses, lookups = parts_in(asking, fault, size), parts_in(resolver, fault, size)
    names: tuple[str, ...] = addresses.names  # type: ignore[attr-defined]

    def silent(share: float) -> int:
        set_to(asking, addresses, fault, share)
        gap_s: float = addresses.gap_s  # type: ignore[attr-defined]

        async def ask() -> int:
            calls = [request(0, names[i % len(names)], service) for i in range(60)]
            waits = []

            async def sleep(seconds: float) -> None:
                waits.append(seconds)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(asyncio, "sleep", sleep)
                await failures(lookups, calls, gap_s, served)
            return len(waits)

        return asyncio.run(ask())

    assert asking.client.serves_stale is False
    assert silent(0.0) == silent(HARMLESS) == 0
    assert silent(GUILTY) > 20
    assert silent(2.0) > 40


def test_a_request_without_an_address_fails_in_the_words_of_the_runbook() -> None:
    fault, size = fault_at("resolver_outage", "catalog", 30)
    replica = FakeReplica("catalog")
    part = parts_in(replica, fault, size)

    async def unknown() -> bytes:
        raise NoAddress("cache", "no address")

    assert all(asyncio.run(failures(part, [request()] * 3, 1.0, unknown)))
    assert len(replica.lines) == 3
    assert logs_fit(fault, replica.lines)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("service", ["receipts", "outbox"])
def test_a_volume_is_full_until_it_is_purged(service: str, threshold: int, tmp_path: Path) -> None:
    fault, size = fault_at("disk_fill", service, threshold)
    replica = FakeReplica(service, tmp_path)
    part = parts_in(replica, fault, size)

    async def write() -> bytes:
        replica.shared["spool"].write(b"receipt")
        return b"ok"

    def fails() -> list[bool]:
        return asyncio.run(failures(part, [request()] * 120, 1.0, write))

    disk_pct = replica.reporter.gauges["disk_pct"]
    for share in (0.0, HARMLESS):
        set_to(replica, part, fault, share)
        assert not any(fails())
        assert 30 <= disk_pct() <= 59
    for share in (GUILTY, 2.0):
        set_to(replica, part, fault, share)
        assert all(fails()[-20:])
        assert disk_pct() > 95
        again = parts_in(replica, fault, size)  # a restart
        assert all(asyncio.run(failures(again, [request()], 1.0, write)))
        set_to(replica, part, fault, 0.0)
        assert not any(fails())
    assert logs_fit(fault, replica.lines)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("service", ["accounts", "storefront"])
def test_a_certificate_ends_before_or_after_its_renewal(
    service: str, threshold: int, tmp_path: Path
) -> None:
    from cryptography.x509 import load_pem_x509_certificate

    fault, size = fault_at("expired_certificate", service, threshold)
    replica = FakeReplica(service)
    authority = Authority(tmp_path)
    replica.surroundings = SimpleNamespace(authority=authority)  # type: ignore[attr-defined]
    part = parts_in(replica, fault, size)

    def left_s(share: float) -> float:
        set_to(replica, part, fault, share)
        part.issue()  # type: ignore[attr-defined]
        path = authority.folder / f"{service}.pem"
        ends = load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc
        return ends.timestamp() - path.stat().st_mtime

    renewal_s = 3.0
    assert left_s(0.0) > left_s(HARMLESS) > renewal_s + 1
    assert left_s(2.0) < left_s(GUILTY) < renewal_s - 1
