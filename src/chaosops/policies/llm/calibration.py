"""The calibration of an adapter's suspicion, as its folder says in ``calibration.json``.

A model that was trained for reward is surer than it is right. Platt scaling corrects this and
keeps the order of suspicions, so the AUROC of a turn does not change. Actions do not change
either. The file is not part of the adapter's identity, but it names the adapter that it is of.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from chaosops.core.errors import BadInput
from chaosops.core.files import write_text
from chaosops.core.inputs import read_object
from chaosops.core.printable import short
from chaosops.policies.llm.adapter import adapter_identity

FILE = "calibration.json"
# 0 and 1 have no finite log-odds. A suspicion has six significant digits, so it comes closer to 0
# than to 1; 1e-14 has been measured. A lost turn has an exact 0. With a smaller least value, few
# such turns would bend the line of all others.
_LEAST, _MOST = 1e-16, 1 - 5e-7
# Log-odds beyond which different probabilities near 1 are the same float. Near 0 they never are.
_FARTHEST = 34.0


def log_odds(suspicion: float) -> float:
    inside = min(max(suspicion, _LEAST), _MOST)
    return math.log(inside / (1 - inside))


class Calibration(NamedTuple):
    """A line through the log-odds."""

    slope: float
    intercept: float

    def of(self, suspicion: float) -> float:
        """
        >>> Calibration(0.5, 0.0).of(0.5), round(Calibration(0.5, 0.0).of(0.9), 6)
        (0.5, 0.75)
        """
        return 1 / (1 + math.exp(-self.slope * log_odds(suspicion) - self.intercept))

    def keeps_order(self) -> bool:
        return self.slope > 0 and self.slope * log_odds(1.0) + abs(self.intercept) <= _FARTHEST


def read_calibration(adapter: Path | None) -> Calibration | None:
    """None if the adapter has none."""
    path = adapter / FILE if adapter else None
    if adapter is None or path is None or not path.is_file():
        return None
    found = read_object(path, "calibration")
    slope, intercept = found.get("slope"), found.get("intercept")
    if not (
        _is_number(slope)
        and _is_number(intercept)
        and (line := Calibration(slope, intercept)).keeps_order()
    ):
        raise BadInput(
            f"{path} holds no line that keeps the order of suspicions: slope {short(slope, 40)}, "
            f"intercept {short(intercept, 40)}; make it with chaosops calibrate"
        )
    if (identity := adapter_identity(adapter)) != found.get("adapter"):
        raise BadInput(
            f"{path} is of another adapter ({short(found.get('adapter'), 40)}, these weights are "
            f"{identity}); remove it, or make it anew with chaosops calibrate"
        )
    return line


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and type(value) is not bool and math.isfinite(value)


def write_calibration(adapter: Path, found: Calibration, origin: Mapping[str, Any]) -> Path:
    """``origin`` says what it was fitted on."""
    path = adapter / FILE
    content = {**found._asdict(), "adapter": adapter_identity(adapter), **origin}
    write_text(path, json.dumps(content, indent=1) + "\n")
    return path
