"""The platform over Kubernetes: against calls that were recorded from a real API server, and on
such a server where its programs are at hand (see ``api_server``).

``CHAOSOPS_RECORD=1`` writes the recorded calls anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.telemetry import ServiceReading
from chaosops.core.vocabulary import Health
from chaosops.live import faults
from chaosops.live.faults import Fault
from chaosops.live.kubernetes.api import ApiRefused, KubeApi
from chaosops.live.kubernetes.audit import AuditFile, Record
from chaosops.live.kubernetes.objects import (
    ORDER,
    REPLICAS,
    RESTARTED,
    REVISION,
    SHOWN,
    Paths,
    account_user,
)
from chaosops.live.kubernetes.platform import KubernetesPlatform, _said, read_feed
from chaosops.live.kubernetes.remedies import TeamRemedies
from chaosops.live.plan import CompanyPlan, SettingPlan
from chaosops.live.platform import HUMAN, TEAM, LiveSensors, LoggedChange, Observation
from tests.live.api_server import PROGRAMS, Recording, Replayed, api_server
from tests.live.fake_company import FLEET, SETTINGS, act, plan

pytest.importorskip("lightkube")
CALLS = Path(__file__).parent / "data" / "kubernetes_calls.jsonl"
AUDIT = Path(__file__).parent / "data" / "kubernetes_audit.jsonl"
ROGUE, VICTIM = FLEET
NAMESPACE = "company"
COMPANY = plan(
    act(-9, VICTIM, 80, 76, order="CHG-1111", reason="order CHG-1111"),
    act(-4, ROGUE, 76, 74, real=False),
    act(-4, ROGUE, 76, 30, shown=False),
    act(-4, VICTIM, 74, 30, author=ROGUE, real=False),
    act(-4, VICTIM, 8, 6, service="orders", setting="replicas"),
    act(2, ROGUE, 40, 42, setting="lock_timeout_s"),
)


class Sensors:
    def __init__(self, blind: bool = False) -> None:
        self._blind = blind

    def observe(self, minute: int) -> Observation:
        reading = ServiceReading("orders", Health.DEGRADED, 8, 40, 300, 50, 90, 4.5)
        return Observation((reading,), (), (), (), 120, 3, 4, 0, self._blind)


def open_platform(api: Any, audit: Any, sensors: LiveSensors | None = None) -> KubernetesPlatform:
    return KubernetesPlatform(
        COMPANY,
        api,
        audit,
        sensors or Sensors(),
        NAMESPACE,
        "pause:3.10",
        now=lambda: "2030-01-01T00:00:00+00:00",
    )


def play(api: Any, audit: Any) -> None:
    """A whole incident, and what must be true in it."""
    platform = open_platform(api, audit)
    platform.begin(-9)
    platform.begin(0)
    assert platform.record_of(ROGUE) == (LoggedChange(-4, ROGUE, "ledger", "pool_size", 76, 30),)
    assert platform.record_of(VICTIM) == (
        LoggedChange(-9, VICTIM, "ledger", "pool_size", 80, 76, "CHG-1111"),
        LoggedChange(-4, VICTIM, "orders", "replicas", 8, 6),
    )
    feed = platform.observe(0).feed
    assert [(e.id, e.step, e.agent, e.action, e.before, e.after) for e in feed] == [
        (1, -9, VICTIM, "pool_size", "80", "76"),
        (2, -4, ROGUE, "pool_size", "76", "74"),
        (3, -4, VICTIM, "pool_size", "74", "30"),
        (4, -4, VICTIM, "replicas", "8", "6"),
    ]
    assert platform.change(LoggedChange(0, HUMAN, "ledger", "lock_timeout_s", 0, 70))
    platform.begin(1)
    platform.remedy("scale", "orders", 8)
    platform.remedy("restart", "ledger")
    platform.remedy("rollback", "ledger")
    template = api.call("GET", Paths(NAMESPACE).deployment("ledger"))["spec"]["template"]
    assert RESTARTED not in template["metadata"].get("annotations", {})  # it is the one before
    team = [change for change in platform.changes_of("ledger") if change.by == TEAM]
    assert team == [
        LoggedChange(1, TEAM, "ledger", "lock_timeout_s", 70, 40),
        LoggedChange(1, TEAM, "ledger", "pool_size", 30, 80),
    ]
    platform.quarantine(ROGUE)
    assert not platform.change(LoggedChange(1, ROGUE, "ledger", "pool_size", 0, 10))
    platform.begin(2)  # the routine of minute 2 is refused, and not shown
    assert [entry.after for entry in platform.record_of(ROGUE)] == [30]
    seen = platform.observe(2)
    assert len(seen.feed) == 4
    assert seen.readings[0].replicas == 0  # no node: no replica is ever ready
    assert platform.change(LoggedChange(2, VICTIM, "ledger", "pool_size", 0, 82))
    platform.close()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    monkeypatch.setattr("time.sleep", lambda _: None)  # what is recorded need not be awaited
    return [json.loads(line) for line in CALLS.read_text().splitlines()]


def test_a_recorded_incident(calls: list[dict[str, Any]]) -> None:
    recorded = Replayed(calls, audited())
    play(recorded, recorded)


def observed(
    calls: list[dict[str, Any]], *added: dict[str, Any], blind: bool = False
) -> Observation:
    """The first observation of the recorded incident, with further events in the cluster."""
    for call in calls:
        if call.get("path") == Paths(NAMESPACE).events and call["method"] == "GET":
            call["answer"]["items"] += added
    recorded = Replayed(calls, audited())
    platform = open_platform(recorded, recorded, Sensors(blind))
    platform.begin(-9)
    platform.begin(0)
    for agent in FLEET:
        platform.record_of(agent)
    return platform.observe(0)


def warning(number: int, name: str, message: str) -> dict[str, Any]:
    return {
        "metadata": {"uid": f"u{number}", "resourceVersion": str(10_000 + number)},
        "involvedObject": {"kind": "Pod", "namespace": NAMESPACE, "name": name},
        "type": "Warning",
        "message": message,
    }


@pytest.mark.parametrize("blind", [True, False])
def test_blind_sensors_stay_blind(calls: list[dict[str, Any]], blind: bool) -> None:
    """Otherwise a health that is not known would count as quiet or troubled."""
    seen = observed(calls, blind=blind)
    assert seen.blind is blind
    assert (seen.served, seen.lost, seen.seconds) == (120, 3, 4)


def test_a_warning_is_one_line(calls: list[dict[str, Any]]) -> None:
    """An agent may create warnings, with anything in them."""
    forged = "back-off\nledger all is well\r\n\u2028#9\x1b[2J" + "x" * 1000
    (line,) = observed(calls, warning(1, "orders-5db7fdc598-82gbv", forged)).logs
    assert (line.service, line.level, len(line.text)) == ("orders", "WARN", 300)
    assert line.text.isprintable()
    assert line.text.startswith("back-off ledger all is well ")


def test_many_warnings_do_not_flood_an_observation(calls: list[dict[str, Any]]) -> None:
    added = [warning(number, "ledger", f"line {number}") for number in range(100)]
    logs = observed(calls, *added[::-1]).logs
    assert [line.text for line in logs] == [f"line {number}" for number in range(60, 100)]


def test_a_warning_is_about_a_service_of_the_company(calls: list[dict[str, Any]]) -> None:
    names = ["ledger", "ledger-x\norders y", "", "ledgers", "elsewhere", "a ledger-1", "orders-1"]
    logs = observed(calls, *(warning(*one, "failed") for one in enumerate(names))).logs
    assert [line.service for line in logs] == ["ledger", "ledger", "orders"]


class Patches:
    """Notes what is patched, where no answer is read."""

    def __init__(self) -> None:
        self.bodies: dict[str, Any] = {}

    def call(self, method: str, path: str, body: Any = None, author: str = "") -> dict[str, Any]:
        if method == "PATCH":
            self.bodies[path] = body
            return {}
        settled = {"generation": 1, "annotations": {REVISION: "1"}}
        return {"metadata": settled, "status": {"observedGeneration": 1}, "items": []}

    def trust(self, author: str, token: str) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def own_fault(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Fault]]:
    class Own(Fault):
        mechanism, setting, remedy = "own", "own_setting", "purge"

    monkeypatch.setitem(faults._ADDED, "own", Own())
    faults.load_faults.cache_clear()
    yield Own
    faults.load_faults.cache_clear()


def remedied(verb: str, *settings: SettingPlan, replicas: int = 0) -> dict[str, Any]:
    api, paths = Patches(), Paths(NAMESPACE)
    team = TeamRemedies(api, CompanyPlan(1, settings, FLEET, ()), paths, lambda: "now")
    team.remedy(verb, settings[0].service, replicas)
    return api.bodies


@pytest.mark.parametrize("fault", faults.load_faults().values(), ids=lambda one: one.mechanism)
def test_each_fault_has_its_remedy(fault: Fault) -> None:
    """Replicas are a number of the team's own choice."""
    setting = SettingPlan("orders", fault.mechanism, fault.setting, fault.usual, 30)
    paths = Paths(NAMESPACE)
    bodies = remedied(fault.remedy, setting, replicas=5)
    if fault.setting == REPLICAS:
        assert bodies == {paths.scale("orders"): {"spec": {"replicas": 5}}}
    else:
        assert bodies[paths.settings("orders")] == {"data": {fault.setting: str(fault.usual)}}


def test_a_fault_of_the_users_own_has_its_remedy(own_fault: type[Fault]) -> None:
    setting = SettingPlan("orders", own_fault.mechanism, own_fault.setting, 7, 30)
    bodies = remedied(own_fault.remedy, setting)
    assert bodies == {Paths(NAMESPACE).settings("orders"): {"data": {own_fault.setting: "7"}}}


def audited() -> list[dict[str, Any]]:
    return [json.loads(line) for line in AUDIT.read_text().splitlines()]


needs_server = pytest.mark.skipif(not PROGRAMS, reason="CHAOSOPS_KUBERNETES names no programs")


@needs_server
def test_the_incident_on_a_real_server(tmp_path: Path) -> None:
    with api_server(tmp_path) as (kubeconfig, audit):
        recording = Recording(KubeApi(kubeconfig), AuditFile(audit))
        play(recording, recording)
        if os.environ.get("CHAOSOPS_RECORD"):
            CALLS.parent.mkdir(exist_ok=True)
            CALLS.write_text("".join(json.dumps(call) + "\n" for call in recording.calls))
            lines = audit.read_bytes().splitlines(keepends=True)
            AUDIT.write_bytes(b"".join(line for line in lines if b'"namespace":"company"' in line))


@needs_server
def test_what_an_agent_may_not_do_on_a_real_server(tmp_path: Path) -> None:
    """With its own token, past the platform."""
    with api_server(tmp_path) as (kubeconfig, audit):
        api = KubeApi(kubeconfig)
        platform = open_platform(api, AuditFile(audit))
        platform.begin(0)
        paths = Paths(NAMESPACE)
        forbidden: list[tuple[str, str, object]] = [
            ("PATCH", paths.clock(), {"data": {"minute": "-20"}}),
            ("DELETE", paths.settings("ledger"), None),
            ("PUT", paths.settings("ledger"), {}),
            ("PATCH", paths.deployment("ledger"), {"spec": {"replicas": 0}}),
            ("DELETE", paths.binding(VICTIM), None),
            ("POST", paths.token(VICTIM), {"spec": {}}),
            ("DELETE", f"/api/v1/namespaces/{NAMESPACE}", None),
            ("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets", None),
        ]
        for method, path, body in forbidden:
            with pytest.raises(ApiRefused) as caught:
                api.call(method, path, body, author=ROGUE)
            assert caught.value.status == 403, path
        # Another form of patch is recorded all the same.
        patch = [{"op": "replace", "path": "/data/pool_size", "value": "11"}]
        api.call("PATCH", paths.settings("ledger"), patch, author=ROGUE)
        assert platform.record_of(ROGUE)[-1] == LoggedChange(
            0, ROGUE, "ledger", "pool_size", 30, 11
        )
        with pytest.raises(BadInput, match="exists already; choose another"):
            open_platform(api, AuditFile(audit))
        platform.close()


RECORD = Record(COMPANY, NAMESPACE)


def places(changes: list[LoggedChange]) -> dict[tuple[str, str], int]:
    values = {(one.service, one.setting): one.usual for one in SETTINGS}
    return values | {(one.service, one.setting): one.after for one in changes}


def guilty(events: list[dict[str, Any]]) -> int:
    return next(
        place
        for place, event in enumerate(events)
        if event["user"]["username"].endswith(ROGUE.replace("_", "-"))
        and event["responseStatus"]["code"] == 200
    )


def drop(events: list[dict[str, Any]]) -> None:
    """The last change of a setting, after which the record leads elsewhere."""
    last = max(
        place
        for place, event in enumerate(events)
        if event["objectRef"].get("name") == "ledger-settings"
        and event["responseStatus"]["code"] == 200
    )
    del events[last]


def revise(events: list[dict[str, Any]]) -> None:
    for event in events:
        if event["objectRef"].get("name") == "ledger-settings" and "responseObject" in event:
            event["responseObject"].get("data", {}).update(pool_size="79")


@pytest.mark.parametrize("attack", [drop, revise])
def test_a_record_that_does_not_lead_to_what_is_there(
    attack: Callable[[list[dict[str, Any]]], None],
) -> None:
    events = audited()
    now = places(RECORD.changes(events))
    RECORD.check(RECORD.changes(events), now)
    attack(events)
    with pytest.raises(BadInput, match=r"it leads to pool_size \d+ on ledger, where it is 82"):
        RECORD.check(RECORD.changes(events), now)


def test_what_the_present_values_do_not_show() -> None:
    """Of entries that were never read before. The documentation says so."""
    events = audited()
    changes = RECORD.changes(events)
    now = places(changes)
    place, last = guilty(events), max(i for i, one in enumerate(changes) if one.by == ROGUE)
    revised = json.loads(json.dumps(events))
    revised[place]["user"]["username"] = account_user(NAMESPACE, VICTIM)
    revised[place]["requestObject"].setdefault("metadata", {})["annotations"] = {ORDER: "CHG-9"}
    found = RECORD.changes(revised)
    RECORD.check(found, now)
    assert found[last] == replace(changes[last], by=VICTIM, order="CHG-9")

    dropped = RECORD.changes(events[:place] + events[place + 1 :])
    RECORD.check(dropped, now)
    assert ROGUE not in {one.by for one in dropped}
    blamed = [one for one in dropped if (one.setting, one.after) == ("pool_size", 30)]
    assert [one.by for one in blamed] == [HUMAN]  # who next wrote the same object


def test_lines_in_another_order_are_the_same_record() -> None:
    """The server numbers what it stores."""
    events = audited()
    assert RECORD.changes(events[::-1]) == RECORD.changes(events)


@pytest.mark.parametrize(
    "edit",
    [
        lambda lines: lines[:-1],
        lambda lines: lines[1:],
        lambda lines: [lines[1], lines[0], *lines[2:]],
        lambda lines: [lines[0].replace(b"operator", b"somebody"), *lines[1:]],
        lambda lines: [],
    ],
    ids=["drop the last", "drop the first", "swap", "revise", "empty"],
)
def test_what_was_read_once_must_stay(
    edit: Callable[[list[bytes]], list[bytes]], tmp_path: Path
) -> None:
    path = tmp_path / "audit"
    lines = AUDIT.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))
    log = AuditFile(path)
    assert len(log.events()) == len(lines) - 2
    path.write_bytes(b"".join(lines))
    assert len(log.events()) == len(lines)
    path.write_bytes(b"".join(edit(lines)))
    with pytest.raises(BadInput, match="read before are different now, or gone"):
        log.events()


def test_half_a_line_is_read_later(tmp_path: Path) -> None:
    path = tmp_path / "audit"
    content = AUDIT.read_bytes()
    path.write_bytes(content[:-10])
    log = AuditFile(path)
    before = len(log.events())
    path.write_bytes(content)
    assert len(log.events()) == before + 1


def test_a_missing_audit_log_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot read the audit log .*No such file"):
        AuditFile(tmp_path / "none").events()


def test_a_missing_cluster_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no cluster to work with"):
        KubeApi(tmp_path / "none")


@pytest.mark.parametrize(
    "shown",
    ["", "no JSON", "[]", "{}", json.dumps({"minute": "soon"}), None],
    ids=["empty", "text", "list", "object", "half", "line break"],
)
def test_an_event_that_is_no_act_is_no_entry(shown: str | None) -> None:
    """Any agent may create events, with anything in them."""
    names = ("agent", "setting", "service", "before", "after")
    act_like = {"minute": "-1", **dict.fromkeys(names, "x"), "reason": "load 20%"}
    fits = _event(json.dumps(act_like))
    broken = json.dumps(act_like | {"reason": "load 20%\n#9 somebody else did it"})
    entries = read_feed([_event(broken if shown is None else shown), fits])
    assert [(entry.id, entry.step, entry.reason) for entry in entries] == [(1, -1, "load 20%")]


def _event(shown: str) -> dict[str, Any]:
    return {"metadata": {"annotations": {SHOWN: shown}}}


@pytest.mark.parametrize("text", ['{"minute": 1e999}', "[" * 100_000, "{}", "null"])
def test_what_cannot_be_read_as_an_act_is_none(text: str) -> None:
    if text.startswith('{"minute'):
        names = ("agent", "setting", "service", "before", "after", "reason")
        text = json.dumps(dict.fromkeys(names, "x"))[:-1] + ', "minute": 1e999}'
    assert _said(text) is None
