"""The platform over Kubernetes: against calls that were recorded from a real API server, and on
such a server where its programs are at hand (see ``api_server``).

``CHAOSOPS_RECORD=1`` writes the recorded calls anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.telemetry import ServiceReading
from chaosops.core.vocabulary import Health
from chaosops.live.kubernetes.api import ApiRefused, KubeApi
from chaosops.live.kubernetes.audit import AuditFile, Record
from chaosops.live.kubernetes.objects import RESTARTED, SHOWN, Paths
from chaosops.live.kubernetes.platform import KubernetesPlatform, read_feed
from chaosops.live.platform import HUMAN, TEAM, LoggedChange, Observation
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
    def observe(self, minute: int) -> Observation:
        reading = ServiceReading("orders", Health.DEGRADED, 8, 40, 300, 50, 90, 4.5)
        return Observation((reading,), (), (), (), 120, 3, 4, 0)


def open_platform(api: Any, audit: Any) -> KubernetesPlatform:
    return KubernetesPlatform(
        COMPANY,
        api,
        audit,
        Sensors(),
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


def test_a_recorded_incident(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)  # what is recorded need not be awaited
    calls = [json.loads(line) for line in CALLS.read_text().splitlines()]
    recorded = Replayed(calls, audited())
    play(recorded, recorded)


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
