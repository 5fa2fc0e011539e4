"""What a calm company costs, and results as files."""

from __future__ import annotations

import json
import sys

import pytest

from chaosops.live.calm import watch
from chaosops.live.company import start_company
from chaosops.live.doses import plan_with
from chaosops.live.faults import load_faults
from chaosops.live.lifecycle import Lifecycle, choose, record_of
from chaosops.live.operator_socket import Operator
from chaosops.live.trial import Trial


def test_a_company_is_watched() -> None:
    with start_company(plan_with(30), operator=True) as company:
        operator = Operator(company.folder)
        try:
            found = watch(operator, company.pid, 4.0)
        finally:
            operator.close()
    assert found["seconds"] >= 4
    assert found["requests"] > 0
    assert found["processes"] > 30
    assert 0.02 < found["cores"] < 1.5
    assert 100 < found["memory_mb"] < 2000
    if not found["void_seconds"]:  # other tests run on the same cores
        assert not found["alerts"]


def test_each_fault_is_tried_so_often_at_its_services_in_turn() -> None:
    chosen = [f"{fault.mechanism}:{service}" for fault, service in choose(["leak", "deadlock"], 4)]
    places = ["leak:catalog", "leak:cache", "leak:orders", "leak:catalog"]
    assert chosen == [*places, *["deadlock:ledger"] * 4]
    assert len(list(choose([], 3))) == 3 * len(load_faults())


def lifecycle(**changed: object) -> Lifecycle:
    values = {
        "fault": "leak",
        "service": "cache",
        "threshold_pct": 30,
        "values": (100, 128, 138),
        "harmless": True,
        "broken_s": 5.0,
        "shows_at": "cache",
        "roots": ("cache",),
        "alert": "",
        "lines": (),
        "well_s": 6.0,
        "relapse": "",
        "seconds": 90,
        "void_s": 3,
    }
    return Lifecycle(**{**values, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "ok"),
        ({"harmless": False}, "BAD"),
        ({"broken_s": None}, "BAD"),
        ({"roots": ("cache", "mailer")}, "BAD"),
        ({"roots": ("mailer",)}, "BAD"),
        ({"shows_at": "ledger", "roots": ("ledger",)}, "ok"),
        ({"well_s": None}, "BAD"),
        ({"relapse": "mailer: errors 8%"}, "BAD"),
        ({"void_s": 19}, "void"),
        ({"void_s": 19, "well_s": None}, "void"),
    ],
)
def test_a_lifecycle_is_judged(changed: dict[str, object], verdict: str) -> None:
    found = lifecycle(**changed)
    assert found.to_wire()["verdict"] == verdict
    assert str(found).startswith(verdict)
    assert ("RELAPSES (mailer" in str(found)) is ("relapse" in changed)


def test_a_record_says_how_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/a/b/trial.py", "leak:cache", "--times", "3"])
    trial = Trial(load_faults()["leak"], "cache", 30, roots={"cache"})
    record = json.loads(record_of("feed", {"runs": [trial.to_wire()]}))
    assert record["command"] == "python -m chaosops.live.trial leak:cache --times 3"
    assert record["commit"] == "feed"
    assert record["runs"][0]["fault"] == "leak"
