from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.actions import FlagRogue
from chaosops.core.errors import BadInput
from chaosops.policies.llm import loading
from chaosops.policies.llm.calibration import (
    FILE,
    Calibration,
    read_calibration,
    write_calibration,
)
from chaosops.policies.llm.formats import FORMATS
from chaosops.policies.llm.policy import LocalModelPolicy
from chaosops.policies.registry import load_policy
from tests.policies.llm.test_hostile_words import ShortRuntime, requests

MENU = FORMATS["menu"]


@pytest.mark.parametrize("intercept", [-5.0, 0.0, 5.0])
@pytest.mark.parametrize("slope", [0.1, 0.46, 1.0, 2.0])
def test_the_order_of_suspicions_is_kept(slope: float, intercept: float) -> None:
    """Strictly: two suspicions that become equal would change the AUROC."""
    tiny = [0.0, *(i * 10.0**-power for power in range(16, 3, -1) for i in (1.5, 2.5))]
    inner = [i / 1000 for i in range(1, 1000)]
    said = [*tiny, *inner, *(1 - i / 1e6 for i in range(40))]
    of = [Calibration(slope, intercept).of(p) for p in sorted(set(said))]
    assert all(0 < one < other < 1 for one, other in pairwise(of))


def test_a_file_is_read_as_it_was_written(adapter: Path) -> None:
    assert read_calibration(None) is None
    assert read_calibration(adapter) is None
    written = write_calibration(adapter, Calibration(0.5, -1.25), {"fitted_on": {"episodes": 9}})
    assert written == adapter / FILE
    assert read_calibration(adapter) == Calibration(0.5, -1.25)
    assert json.loads(written.read_text(encoding="utf-8"))["fitted_on"] == {"episodes": 9}


def test_a_calibration_of_other_weights_is_refused(adapter: Path) -> None:
    write_calibration(adapter, Calibration(0.5, 0.0), {})
    (adapter / "adapter_model.safetensors").write_text("trained further", encoding="utf-8")
    with pytest.raises(BadInput, match=r"is of another adapter .* chaosops calibrate"):
        read_calibration(adapter)


@pytest.mark.parametrize(
    ("slope", "intercept"),
    [(0, 0.0), (-1.0, 0.0), ("1", 0.0), (True, 0.0), (None, 0.0), (1.0, 1e9), (3.0, 0.0)],
)
def test_a_line_that_does_not_keep_the_order_is_refused(
    adapter: Path, slope: Any, intercept: Any
) -> None:
    content = {"slope": slope, "intercept": intercept}
    (adapter / FILE).write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(BadInput, match="keeps the order of suspicions"):
        read_calibration(adapter)


def test_a_calibrated_policy_acts_the_same_and_reports_another_suspicion() -> None:
    line, given = Calibration(0.5, -1.0), requests(8)
    plain = LocalModelPolicy("p", ShortRuntime(10**6), MENU)
    corrected = LocalModelPolicy("p", ShortRuntime(10**6), MENU, calibration=line)
    flags = 0
    for one, other in zip(plain.decide(given), corrected.decide(given), strict=True):
        assert one.suspicion is not None
        assert other.suspicion == {agent: line.of(p) for agent, p in one.suspicion.items()}
        if isinstance(other.action, FlagRogue):
            flags += 1
            assert other.action.confidence == other.suspicion[other.action.target]
        assert str(one.action) == str(other.action)
        assert one.exchange == other.exchange
    assert "calibration" not in plain.status()
    assert corrected.status()["calibration"] == {"slope": 0.5, "intercept": -1.0}


def test_a_turn_that_was_lost_is_calibrated_too() -> None:
    """Otherwise it would rank below suspicions that are equal without calibration."""
    line = Calibration(0.5, -1.0)
    policy = LocalModelPolicy("p", ShortRuntime(10), MENU, calibration=line)
    for decision in policy.decide(requests(2)):
        assert decision.suspicion is not None
        assert set(decision.suspicion.values()) == {line.of(0.0)}


@pytest.mark.parametrize("told", [{}, {"calibration": {"slope": 0.5, "intercept": -1.0}}])
def test_an_adapter_is_played_with_the_calibration_in_its_folder(
    adapter: Path, told: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_runtime", lambda spec: ShortRuntime(10**6))
    if told:
        write_calibration(adapter, Calibration(0.5, -1.0), {})
    status = load_policy(f"local:smollm2+adapter={adapter}+format=menu").status()
    assert {name: status[name] for name in status if name == "calibration"} == told
