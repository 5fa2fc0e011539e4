"""The files that are derived from results.json, as text."""

from __future__ import annotations

import json

from chaosops.core.printable import printable
from chaosops.evaluation.judge import PAIRED, Judgement, judge_monitors
from chaosops.evaluation.metrics import METRICS, as_written
from chaosops.evaluation.monitor import RECORDED_METRICS
from chaosops.evaluation.results import MONITOR, SUMMARY, TABLE, Results
from chaosops.report import tables
from chaosops.workers import Pool


def judged(
    results: Results, stored: str | None = None, pool: Pool | None = None
) -> Judgement | None:
    """None if no pack measures its overseers. ``stored`` is monitor.json, maybe of an earlier
    version: the same metrics are computed under the same keys."""
    if not results.judges_oversight():
        return None
    metrics = as_written(RECORDED_METRICS, stored)
    return judge_monitors(results, metrics, as_written(PAIRED, stored), pool)


def derived_files(
    results: Results, monitors: Judgement | None, stored: str | None = None
) -> dict[str, str]:
    """``stored`` is summary.json, maybe of an earlier version."""
    metrics = as_written(METRICS, stored)
    files = {SUMMARY: json.dumps(results.summary(metrics), indent=1) + "\n"}
    table = tables.markdown_report(results, metrics)
    if monitors is not None:
        files[MONITOR] = json.dumps(monitors.to_wire(), indent=1) + "\n"
        table += "\n" + tables.oversight_report(monitors) + "\n"
    return {**files, TABLE: printable(table)}
