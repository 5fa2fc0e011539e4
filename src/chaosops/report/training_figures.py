"""The metrics of a training run: read, checked and drawn."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_text
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.metrics import VALIDATED
from chaosops.report.figures import COLOURS, new_canvas, save_figure

_CURVES = {
    "regret": "regret of the likeliest action",
    "reply_reward": "mean reward of a reply",
    "worth": "mean reward of a reply",  # the name in runs of older versions
}
LINE_STYLES = ("-", "--", ":")  # one for each pack
_MEMORY = 0.95  # of the running mean


def read_metrics(path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(updates, validations) of a run. Every row is one that ``chaosops train`` could have
    written."""
    updates: list[dict[str, Any]] = []
    validations: list[dict[str, Any]] = []
    for number, line in enumerate(read_text(path, "metrics").splitlines(), 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not _is_row(row):
            raise BadInput(f"{path}:{number} is not a row that chaosops train writes")
        (validations if "validation" in row else updates).append(row)
    if not updates and not validations:
        raise BadInput(f"{path} is empty: there is no curve to draw")
    return updates, validations


def learning_curve(metrics: Path, path: Path) -> Path:
    """Above, the regret of each role's likeliest action, or with TRL the mean reward of its
    replies; below, validation by tier. The background shows the main tier of each batch."""
    updates, validations = read_metrics(metrics)
    if not updates:
        raise BadInput(f"{metrics} holds no update: there is no curve to draw")
    figure, (lost, gained) = new_canvas(8, 7, rows=2)
    _mark_tiers(lost, updates)
    kind = next(kind for kind in _CURVES if kind in updates[0])
    curves = sorted(_smooth(updates, kind).items())
    packs = list(dict.fromkeys(name.rpartition(" ")[0] for name, _ in curves))
    for name, points in curves:
        pack, _, role = name.rpartition(" ")
        dash = LINE_STYLES[packs.index(pack) % len(LINE_STYLES)]
        colour = COLOURS[list(Role).index(Role(role))]
        lost.plot(*zip(*points, strict=True), dash, color=colour, label=name)
    lost.set_ylabel(_CURVES[kind])
    if kind == "regret":
        lost.set_yscale("symlog", linthresh=1)
    lost.legend(fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    tiers = list(validations[-1]["validation"]) if validations else []
    for colour, tier in zip(COLOURS, tiers, strict=False):
        seen = [row for row in validations if tier in row["validation"]]
        steps = [row["step"] for row in seen]
        rewards = [row["validation"][tier]["mean_reward"] for row in seen]
        gained.plot(steps, rewards, "o-", color=colour, label=tier)
    gained.set_ylabel("mean reward, validation")
    gained.set_xlabel("updates")
    if tiers:
        gained.legend(fontsize=8)
    else:
        gained.text(0.5, 0.5, "not validated", transform=gained.transAxes, ha="center")
    return save_figure(figure, path)


def _smooth(updates: list[dict[str, Any]], kind: str) -> dict[str, list[tuple[int, float]]]:
    curves: dict[str, list[tuple[int, float]]] = {}
    for row in updates:
        for name, value in row[kind].items():
            curve = curves.setdefault(name, [])
            before = curve[-1][1] if curve else value
            curve.append((row["step"], _MEMORY * before + (1 - _MEMORY) * value))
    return curves


def _mark_tiers(axes: Any, updates: list[dict[str, Any]]) -> None:
    shades = {"easy": "#f4f8fb", "medium": "#e3edf5", "hard": "#cfe0ee"}
    for row in updates:
        most = max(row["tiers"], key=row["tiers"].__getitem__)
        axes.axvspan(row["step"] - 1, row["step"], color=shades[most], linewidth=0)


def _is_row(row: Any) -> bool:
    if not isinstance(row, dict) or type(row.get("step")) is not int or row["step"] < 0:
        return False
    if "validation" in row:
        return _is_validation(row["validation"])
    kinds = [kind for kind in _CURVES if kind in row]
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
        # A tier, with the name of its split before it if that is the reserve.
        and {name.rpartition(" ")[2] for name in found} <= {tier.value for tier in Tier}
        and all(
            isinstance(measures, dict)
            and _is_number(measures.get("mean_reward"))
            and all(measures.get(name) is None or _is_number(measures[name]) for name in VALIDATED)
            for measures in found.values()
        )
    )


def _are_roles(figures: dict[str, Any]) -> bool:
    """``arena oversight`` with the menu, ``oversight`` with TRL."""
    return {name.rpartition(" ")[2] for name in figures} <= {role.value for role in Role}


def _is_figures(found: object) -> bool:
    return isinstance(found, dict) and all(map(_is_number, found.values()))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
