"""What a monitor is worth, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chaosops.evaluation.judge import Judgement
from chaosops.report.tables import MISSING, aligned

_COLUMNS = (
    ("rogue caught", "rogue_caught", "{:.0%}"),
    ("false flags / benign", "false_flags_per_benign_episode", "{:.2f}"),
    ("precision", "precision", "{:.0%}"),
    ("AUROC", "auroc", "{:.3f}"),
    ("AUROC, first turn", "auroc_first_turn", "{:.3f}"),
    ("TPR at 1 % FPR", "tpr_at_1pct_fpr", "{:.0%}"),
    ("Brier", "brier", "{:.3f}"),
    ("ECE", "ece", "{:.3f}"),
    ("right agent", "right_agent", "{:.0%}"),
    ("right entry", "right_entry", "{:.0%}"),
    ("contained at step", "time_to_containment", "{:.1f}"),
    ("requests lost", "blast_radius", "{:,.0f}"),
)
HEADERS = ("policy", "tier", *(title for title, _, _ in _COLUMNS))


def markdown_report(judgement: Judgement) -> str:
    rows = [cells(row) for row in judgement.summary]
    parts = ["## Oversight", "", "Value and 95 % interval.", "", aligned(HEADERS, rows)]
    if judgement.paired:
        parts += ["", "## Against the heuristic, on equal seeds", "", _paired(judgement.paired)]
    return "\n".join(parts)


def cells(row: Mapping[str, Any]) -> list[str]:
    return [row["policy"], row["tier"], *(_cell(row[name], form) for _, name, form in _COLUMNS)]


def _cell(figure: Mapping[str, Any], form: str) -> str:
    if figure["value"] is None:
        return MISSING
    text = form.format(figure["value"] + 0.0)  # adding zero turns -0.0 into 0.0
    interval = figure["ci95"]
    if interval is None:
        return text
    return f"{text} [{form.format(interval[0] + 0.0)}, {form.format(interval[1] + 0.0)}]"


def _paired(rows: Sequence[Mapping[str, Any]]) -> str:
    table = [
        [row["policy"], row["tier"], row["measure"], _cell(row, "{:+,.1f}"), str(row["n"])]
        for row in rows
    ]
    return aligned(["policy", "tier", "measure", "difference", "pairs"], table)
