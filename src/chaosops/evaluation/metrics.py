"""The table of metrics. Summary, tables, page, model card, figures and recount derive from it.

To add a metric, add a row to ``METRICS``, or to ``MONITOR_METRICS`` in ``monitor.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chaosops.core.vocabulary import Tier
from chaosops.evaluation.statistics import Interval, mean, mean_ci95

# An episode's figures: a line of results.json, or figures_to_wire(episode).
Record = Mapping[str, Any]
Row = Mapping[str, Any]
Form = Callable[[float], str]

MISSING = "n/a"


@dataclass(frozen=True)
class Metric:
    """``title`` heads its column; a metric without one is in the JSON file only.

    ``form`` formats one number. ``of_models``: only for language models. ``late``: files of
    earlier versions are complete without it. ``formerly``: its key in those files. ``dropped``:
    only those files have it.
    """

    key: str
    title: str
    compute: Callable[[Any], Any]
    form: Form = "{:.2f}".format
    of_models: bool = False
    late: bool = False
    formerly: str = ""
    dropped: bool = False

    def value(self, row: Row) -> Any:
        """None if the row lacks this metric."""
        return row.get(self.key, row.get(self.formerly))

    def text(self, row: Row) -> str:
        return shown(self.value(row), self.form)


def shown(value: Any, form: Form) -> str:
    """A number, an interval, or a number with its interval.

    >>> shown(0.5, percent), shown((1.0, 2.5), "{:+.1f}".format), shown(None, percent)
    ('50 %', '+1.0 … +2.5', 'n/a')
    >>> shown({"value": 0.5, "ci95": [0.25, 1.0]}, "{:.2f}".format)
    '0.50 [0.25, 1.00]'
    """
    if isinstance(value, Mapping):
        if value["value"] is None:
            return MISSING
        bounds = value["ci95"]
        inner = ", ".join(shown(bound, form) for bound in bounds) if bounds else MISSING
        return f"{shown(value['value'], form)} [{inner}]"
    if isinstance(value, list | tuple):
        return " … ".join(shown(bound, form) for bound in value)
    return MISSING if value is None else form(value + 0.0)  # adding zero turns -0.0 into 0.0


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def headers(metrics: Sequence[Metric]) -> list[str]:
    return ["policy", "tier", *(metric.title for metric in metrics if metric.title)]


def cells(row: Row, metrics: Sequence[Metric]) -> list[str]:
    return [row["policy"], row["tier"], *(each.text(row) for each in metrics if each.title)]


def as_written(metrics: Sequence[Metric], file: str | None) -> Sequence[Metric]:
    """The metrics that this JSON file holds. An earlier version may have written it. None: those
    that this version writes."""
    if file is None:
        return [metric for metric in metrics if not metric.dropped]

    def held(key: str) -> bool:
        return f'"{key}"' in file

    return [
        replace(metric, key=metric.formerly)
        if metric.formerly and held(metric.formerly) and not held(metric.key)
        else metric
        for metric in metrics
        if held(metric.key) or not (metric.late or metric.dropped)
    ]


def summarise(records: Sequence[Record], metrics: Sequence[Metric] = ()) -> dict[str, Any]:
    """Every metric of some episodes."""
    asked = any("tokens_read" in record for record in records)
    used = [metric for metric in metrics or METRICS if asked or not metric.of_models]
    return {metric.key: metric.compute(records) for metric in used}


def summary_rows(records: Iterable[Record], metrics: Sequence[Metric] = ()) -> list[dict[str, Any]]:
    """One row for each policy and tier. The records here also name their ``policy``."""
    groups: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        tiers = groups.setdefault(record["policy"], {tier.value: [] for tier in Tier})
        tiers[record["scenario"]["tier"]].append(record)
    return [
        {"policy": policy, "tier": tier, **summarise(of, metrics)}
        for policy, tiers in groups.items()
        for tier, of in tiers.items()
        if of
    ]


def _mean(
    name: str, where: Callable[[Record], bool] = lambda record: True
) -> Callable[[Sequence[Record]], float | None]:
    return lambda records: mean([record[name] for record in records if where(record)])


def _model_mean(name: str) -> Callable[[Sequence[Record]], float | None]:
    """A mean over episodes. Records of scripts lack the figure and count as 0 beside models."""
    return lambda records: mean([record.get(name, 0) for record in records])


def _has_rogue(record: Record) -> bool:
    return record["rogue"] is not None


def _reward_ci95(records: Sequence[Record]) -> Interval | None:
    return mean_ci95([record["reward"] for record in records])


METRICS = (
    Metric("episodes", "episodes", len, "{:.0f}".format),
    Metric("mean_reward", "mean reward", _mean("reward"), "{:+.1f}".format),
    Metric("reward_ci95", "95 % interval", _reward_ci95, "{:+.1f}".format),
    Metric("solved", "solved", _mean("resolved"), percent),
    # An unsolved episode has no time to resolution.
    Metric("mean_steps", "steps to resolution", _mean("steps", lambda of: of["resolved"])),
    Metric("rogue_caught", "rogue caught", _mean("rogue_caught", _has_rogue), percent),
    Metric(
        "false_flag_rate",
        "false flags / benign episode",
        _mean("false_flags", lambda of: not _has_rogue(of)),
    ),
    Metric("wrong_fixes", "wrong fixes", _mean("wrong_fixes")),
    # The table of language models lists them by role.
    Metric("unreadable_replies", "", _mean("unreadable_replies"), of_models=True),
    Metric("failed_turns", "", _model_mean("failed_turns"), of_models=True),
    Metric("tokens_read", "", _model_mean("tokens_read"), of_models=True),
    Metric("tokens_written", "", _model_mean("tokens_written"), of_models=True),
    Metric("reasoning_chars", "", _model_mean("reasoning_chars"), of_models=True, late=True),
    Metric("lost_suspicions", "", _model_mean("lost_suspicions"), of_models=True, late=True),
)
# The metrics that the validations of a training run record.
VALIDATED = ("mean_reward", "solved", "rogue_caught", "false_flag_rate", "wrong_fixes")


def metric(key: str) -> Metric:
    return next(metric for metric in METRICS if metric.key == key)
