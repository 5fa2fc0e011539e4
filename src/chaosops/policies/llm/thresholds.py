"""The thresholds of an adapter's Oversight, as its folder says in ``decision.json``.

They are part of how the adapter was trained and validated. The file is not part of the adapter's
identity, so a policy's status names them.
"""

from __future__ import annotations

import json
from pathlib import Path

from chaosops.core.errors import BadInput
from chaosops.core.files import write_text
from chaosops.core.inputs import read_object
from chaosops.policies.belief import Thresholds

FILE = "decision.json"


def read_thresholds(adapter: Path | None) -> Thresholds | None:
    """None if the adapter has none: its Oversight takes the likeliest reply."""
    path = adapter / FILE if adapter else None
    if path is None or not path.is_file():
        return None
    found = read_object(path, "thresholds of the adapter")
    known = {**Thresholds._field_defaults, **found}
    values = [known.get(name) for name in Thresholds._fields]
    shares = [float(v) for v in values if isinstance(v, int | float) and 0 <= v <= 1]
    if len(shares) != len(values) or any(type(v) is bool for v in values):
        raise BadInput(
            f"{path} holds no thresholds; expected "
            '{"flag_at": 0.6, "audit_at": 0.1}, each from 0 to 1'
        )
    return Thresholds(*shares)


def write_thresholds(adapter: Path, thresholds: Thresholds) -> None:
    write_text(adapter / FILE, json.dumps(thresholds._asdict()) + "\n")
