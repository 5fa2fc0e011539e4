"""Training runs as curves: every number in a run's metrics, under its own name."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from chaosops.core.errors import ChaosOpsError
from chaosops.core.inputs import read_object
from chaosops.evaluation import metrics as summary
from chaosops.evaluation.monitor import MONITOR_METRICS
from chaosops.report.training_figures import read_metrics
from chaosops.training.stages import Origin, in_stage_order
from chaosops.training.story import BASELINES, read_companies
from chaosops.web.evaluations import Folder, Read, figures_of
from chaosops.web.redaction import unreadable
from chaosops.web.training_story import read_told

METRICS = "metrics.jsonl"
POINTS = 240  # of a curve; a screen cannot show more
_HIDDEN = ("step", "tiers", "validation")

Curve = list[tuple[float, float]]


def read_run(folder: Folder) -> Read:
    head = {"key": folder.key, "title": folder.title}
    recipe = folder.path / "recipe.toml"
    try:
        updates, validations = read_metrics(folder.path / METRICS)
        report = {
            **head,
            "updates": max((row["step"] for row in updates), default=0),
            "each_point": -(-len(updates) // POINTS),
            "recipe": recipe.read_text(encoding="utf-8") if recipe.is_file() else None,
            "validation": _validation(validations),
            "training": _training(updates),
            "baselines": _baselines(folder.path / BASELINES),
            "companies": read_companies(folder.path, validations),
            "story": read_told(folder.path),
            "figures": figures_of(folder.path),
        }
        return Read(report)
    except (ChaosOpsError, OSError, ValueError, KeyError, TypeError) as error:
        return Read({**head, "error": unreadable(error)})


def by_stage(reads: Iterable[Read]) -> list[Read]:
    """Each run after the one that it starts from; runs that cannot be read come last."""
    return sorted(in_stage_order(reads, _origin), key=lambda read: "error" in read.report)


def _origin(read: Read) -> Origin:
    try:
        recipe = tomllib.loads(read.report.get("recipe") or "")
    except tomllib.TOMLDecodeError:
        recipe = {}
    return Origin(str(recipe.get("name", "")), str(recipe.get("start", "")))


def _baselines(path: Path) -> dict[str, Any]:
    """How scripts play the same validation episodes: policy, tier, metric."""
    return read_object(path, "baselines") if path.is_file() else {}


def _validation(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A chart for each metric, with a curve for each tier."""
    by_metric: list[dict[str, Any]] = []
    for row in rows:
        metrics: dict[str, Any] = {"step": row["step"]}
        for tier, values in row["validation"].items():
            for name, value in values.items():
                metrics.setdefault(name, {})[tier] = value
        by_metric.append(metrics | {name: row[name] for name in row if name not in _HIDDEN})
    titles = {metric.key: metric.title for metric in (*MONITOR_METRICS, *summary.METRICS)}
    return [
        {"name": name, "title": titles.get(name), "curves": curves}
        for name, curves in _curves(by_metric).items()
    ]


def _training(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A chart for each number of an update. Numbers by role share a chart."""
    return [
        {"name": name, "curves": {part: thin(curve) for part, curve in sorted(curves.items())}}
        for name, curves in _curves(rows).items()
        if any(len({value for _, value in curve}) > 1 for curve in curves.values())
    ]


def _curves(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Curve]]:
    """Points by name and part, as ``{"regret": {"sre": [(1, 0.5), …]}}``."""
    charts: dict[str, dict[str, Curve]] = {}
    for row in rows:
        for name in (name for name in row if name not in _HIDDEN):
            parts = row[name] if isinstance(row[name], dict) else {name: row[name]}
            for part, value in parts.items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    charts.setdefault(name, {}).setdefault(part, []).append((row["step"], value))
    return charts


def thin(curve: Curve, points: int = POINTS) -> Curve:
    """Average neighbouring points, so that a long run fits a screen.

    >>> thin([(1, 2.0), (2, 4.0), (3, 6.0), (4, 8.0)], points=2)
    [(1.5, 3.0), (3.5, 7.0)]
    """
    size = -(-len(curve) // points)
    groups = [curve[i : i + size] for i in range(0, len(curve), size)]
    return [
        (sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group))
        for group in groups
    ]
