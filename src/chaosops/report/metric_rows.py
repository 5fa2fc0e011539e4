"""Read the rows of a run's metrics, and check them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_text
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.metrics import VALIDATED

CURVES = {
    "regret": "regret of the likeliest action",
    "reply_reward": "mean reward of a reply",
    "worth": "mean reward of a reply",  # the name in runs of older versions
}


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Every row is one that ``chaosops train`` could have written."""
    rows = []
    for number, line in enumerate(read_text(path, "metrics").splitlines(), 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict) or not _is_row(row):
            raise BadInput(f"{path}:{number} is no row that chaosops train writes")
        rows.append(row)
    if not rows:
        raise BadInput(f"{path} is empty: there is no curve to draw")
    return rows


def _is_row(row: dict[str, Any]) -> bool:
    if type(row.get("step")) is not int or row["step"] < 0:
        return False
    if "validation" in row:
        return _is_validation(row["validation"])
    kinds = [kind for kind in CURVES if kind in row]
    return (
        bool(kinds)
        and all(_is_figures(row[kind]) and _are_roles(row[kind]) for kind in kinds)
        and _is_figures(row.get("tiers"))
        and bool(row["tiers"])
        and set(row["tiers"]) <= {tier.value for tier in Tier}
        and all(_is_number(row[name]) for name in ("states", "episodes") if name in row)
    )


def _is_validation(found: object) -> bool:
    return (
        isinstance(found, dict)
        and set(found) <= {tier.value for tier in Tier}
        and all(isinstance(measures, dict) for measures in found.values())
        and all(
            _is_number(measures.get(name)) or (name != "mean_reward" and measures.get(name) is None)
            for measures in found.values()
            for name in VALIDATED
        )
    )


def _are_roles(figures: dict[str, Any]) -> bool:
    """``arena oversight`` with the menu, ``oversight`` with TRL."""
    return {name.rpartition(" ")[2] for name in figures} <= {role.value for role in Role}


def _is_figures(found: object) -> bool:
    return isinstance(found, dict) and all(map(_is_number, found.values()))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
