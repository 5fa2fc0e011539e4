"""A series of tries without a company: void tries, files of results, and figures."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chaosops.live import calm, lifecycle
from chaosops.live.faults import Fault, load_faults
from chaosops.live.lifecycle import arguments, run_lifecycle, try_all
from chaosops.live.platform import VoidRun
from chaosops.live.result import Result
from chaosops.live.trial import Trial, run_trial
from tests.live.test_calm import lifecycle as ok_lifecycle
from tests.test_documents import script

STARTED: list[bool] = []


class FakeOperator:
    """A company that gets sick at 138 % of a setting and well by its remedy, and whose host
    disturbs it for 0.1 seconds between two looks."""

    def __init__(self, _: Path | None = None) -> None:
        self.sick = False
        self.looks = 0

    def ask(self, do: str, **more: Any) -> Any:
        if do == "set":
            self.sick = more["value"] > 130
        if do == "remedy":
            self.sick = self.sick and more["verb"] != load_faults()["leak"].remedy
        self.looks += 1
        return {
            "health": {"cache": int(self.sick)},
            "roots": ["cache"] if self.sick else [],
            "readings": [["cache", int(self.sick), 1, 0, 0, 0, 0, 0]],
            "alerts": [],
            "logs": [],
            "served": 0,
            "lost": 0,
            "seconds": 0.1 * self.looks,
            "void": 0.1 * self.looks,
        }

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _no_companies(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def start_company(*_: object, **__: object) -> Iterator[Any]:
        STARTED.append(True)
        yield SimpleNamespace(folder=None, pid=0)

    STARTED.clear()
    for module in (lifecycle, calm):
        monkeypatch.setattr(module, "start_company", start_company)
        monkeypatch.setattr(module, "Operator", FakeOperator)


def ok(_: object, fault: Fault, service: str, __: int) -> Result:
    return ok_lifecycle(service=service)


def ok_trial(_: object, fault: Fault, service: str, threshold_pct: int) -> Result:
    return Trial(fault, service, threshold_pct, seconds=60)


def ends_once(run: Callable[..., Result]) -> Callable[..., Result]:
    """Midway in the first try."""

    def play(*given: Any) -> Result:
        if len(STARTED) == 1:
            raise VoidRun("the company ended")
        return run(*given)

    return play


@pytest.mark.parametrize("run", [ok, ok_trial])
def test_a_company_that_ends_is_a_void_try(
    run: Callable[..., Result], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "lifecycles_one.json"
    given = arguments("lifecycle").parse_args(["leak", "--out", str(out)])
    assert try_all(given, ends_once(run)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"void {'leak':<20} {'catalog':<11} 30% the company ended"
    assert lines[-1] == "2 of 3 ok, 1 void"
    runs = json.loads(out.read_text())["runs"]
    assert [one["verdict"] for one in runs] == ["void", "ok", "ok"]
    assert runs[0]["reason"] == "the company ended"


def test_a_company_that_does_not_start_is_a_void_try(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start_company(*_: object, **__: object) -> None:
        raise VoidRun("the live company did not start")

    monkeypatch.setattr(lifecycle, "start_company", start_company)
    assert try_all(arguments("lifecycle").parse_args(["leak"]), ok) == 1, "nothing was measured"
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "0 of 3 ok, 3 void"
    assert all(line.endswith("the live company did not start") for line in lines[:-1])


def test_the_table_of_lifecycles_shows_void_tries(tmp_path: Path) -> None:
    folder = tmp_path / "experiments/live"
    given = arguments("lifecycle").parse_args(
        ["leak", "--out", str(folder / "lifecycles_one.json")]
    )
    assert try_all(given, ends_once(ok)) == 0, "a missing folder is made"
    path = folder / "lifecycles_one.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"commit": "feedfeed"}))
    told = script("live_tables").lifecycles(tmp_path)
    assert "2 of 3 ok, 1 void" in told
    assert "void, ok, ok" in told


def _calm(*words: str) -> int:
    sys.argv[1:] = ["--minutes", "0", *words]
    return calm.main()


def _series(*words: str) -> int:
    return try_all(arguments("trial").parse_args(["leak", *words]), ok)


@pytest.mark.parametrize("command", [_series, _calm])
def test_a_file_that_cannot_be_written_is_refused_before_any_work(
    command: Callable[..., int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["calm.py"])
    (tmp_path / "file").touch()
    assert command("--out", str(tmp_path / "file" / "out.json")) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "choose another --out" in told
    assert STARTED == []


def test_void_seconds_have_one_decimal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    operator: Any = FakeOperator()
    for name in ("_ENDS_S", "_SHOWS_S", "_HARMLESS_S"):
        monkeypatch.setattr(lifecycle, name, 0.01)
    leak = load_faults()["leak"]
    for run in (partial(run_lifecycle, stays_s=0.01), run_trial):
        monkeypatch.setattr("chaosops.live.trial.until", _one_look)
        monkeypatch.setattr(lifecycle, "until", _one_look)
        found: Any = run(operator, leak, "cache", 30)
        assert found.void_s == round(found.void_s, 1) > 0
        assert isinstance(found.seconds, int)
    found = calm.watch(operator, 0, 0.01)
    assert found["void_seconds"] == round(found["void_seconds"], 1) > 0


def _one_look(operator: Any, reached: Callable[[Any], bool], _: float) -> float | None:
    return 0.1 if reached(operator.ask("status")) else None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ledger=4", "expected SERVICE.SETTING=VALUE"),
        ("ledger.replicas=many", "expected SERVICE.SETTING=VALUE"),
        ("legder.replicas=4", "did you mean 'ledger.replicas'"),
    ],
)
def test_a_setting_that_is_none_gets_one_line(
    capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    given = arguments("lifecycle").parse_args(["bad_config", "--set", text])
    assert try_all(given, run_lifecycle) == 2
    assert said in capsys.readouterr().err
