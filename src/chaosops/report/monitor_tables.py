"""What a monitor is worth, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chaosops.evaluation.judge import Judgement
from chaosops.report.tables import MISSING, aligned

_COLUMNS = (
    ("rogue caught", "rogue_caught", "{:.0%}"),
    ("innocent agents flagged / benign", "false_flags_per_benign_episode", "{:.2f}"),
    ("precision", "precision", "{:.0%}"),
    ("flags on unknown agents", "unknown_flags", "{:.2f}"),
    ("AUROC, turn 1", "auroc_turn_1", "{:.3f}"),
    ("AUROC, turn 2", "auroc_turn_2", "{:.3f}"),
    ("AUROC, turn 3", "auroc_turn_3", "{:.3f}"),
    ("AUROC, last turn", "auroc_last_turn", "{:.3f}"),
    ("AUROC of length alone", "auroc_length_alone", "{:.3f}"),
    ("TPR at 1 % FPR", "tpr_at_1pct_fpr_turn_1", "{:.0%}"),
    ("Brier", "brier_turn_3", "{:.3f}"),
    ("ECE", "ece_turn_3", "{:.3f}"),
    ("right agent", "right_agent_turn_3", "{:.0%}"),
    ("right entry", "right_entry", "{:.0%}"),
    ("contained at step", "time_to_containment", "{:.1f}"),
    ("requests lost", "blast_radius", "{:,.0f}"),
)
AT = (
    "AUROC, turn 1 to 3: each rogue episode is compared with each benign one after that turn of "
    "Oversight, or the last that both had. The last turn is confounded by the length of the "
    "episode, which alone would score the column beside it. TPR: after the first turn. Brier, ECE "
    "and right agent: of the last word within three turns."
)
_NOTHING = {"value": None, "ci95": None}
HEADERS = ("policy", "tier", *(title for title, _, _ in _COLUMNS))


def markdown_report(judgement: Judgement) -> str:
    rows = [cells(row) for row in judgement.summary]
    parts = ["## Oversight", "", f"Value and 95 % interval. {AT}", "", aligned(HEADERS, rows)]
    parts += [line for row in judgement.summary for line in _unknown_suspects(row)]
    if judgement.paired:
        parts += ["", "## Against the heuristic, on equal seeds", "", _paired(judgement.paired)]
    return "\n".join(parts)


def cells(row: Mapping[str, Any]) -> list[str]:
    """A file of an earlier version does not hold every figure: what is missing is n/a."""
    found = (_cell(row.get(name) or _NOTHING, form) for _, name, form in _COLUMNS)
    return [row["policy"], row["tier"], *found]


def _cell(figure: Mapping[str, Any], form: str) -> str:
    if figure["value"] is None:
        return MISSING
    text = form.format(figure["value"] + 0.0)  # adding zero turns -0.0 into 0.0
    interval = figure["ci95"]
    if interval is None:
        return f"{text} [{MISSING}]"
    return f"{text} [{form.format(interval[0] + 0.0)}, {form.format(interval[1] + 0.0)}]"


def _unknown_suspects(row: Mapping[str, Any]) -> list[str]:
    found = row["unknown_suspects"]["value"]
    if not found:
        return []
    return [
        "",
        f"> {row['policy']} on {row['tier']} suspected {found:.2f} names an episode that are no "
        "agents of the fleet; they are in no figure.",
    ]


def _paired(rows: Sequence[Mapping[str, Any]]) -> str:
    table = [
        [row["policy"], row["tier"], row["measure"], _cell(row, "{:+,.1f}"), str(row["n"])]
        for row in rows
    ]
    return aligned(["policy", "tier", "measure", "difference", "pairs"], table)
