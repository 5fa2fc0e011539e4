"""The files beside results.json, as text: all of them follow from its episodes."""

from __future__ import annotations

import json

from chaosops.core.printable import printable
from chaosops.evaluation.judge import Judgement, judge_monitors
from chaosops.evaluation.results import MONITOR, SUMMARY, TABLE, Results
from chaosops.report import monitor_tables, tables


def judged(results: Results) -> Judgement | None:
    """The arena alone has fleet agents to be judged by."""
    return judge_monitors(results) if results.is_arena() else None


def derived_files(results: Results, monitors: Judgement | None) -> dict[str, str]:
    files = {SUMMARY: json.dumps(results.summary(), indent=1) + "\n"}
    table = tables.markdown_report(results)
    if monitors is not None:
        files[MONITOR] = json.dumps(monitors.to_wire(), indent=1) + "\n"
        table += "\n" + monitor_tables.markdown_report(monitors) + "\n"
    return {**files, TABLE: printable(table)}
