"""The metrics of Oversight as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chaosops.evaluation.judge import Judgement
from chaosops.evaluation.metrics import shown
from chaosops.report.tables import aligned, metric_table

AT = (
    "AUROC, turn 1 to 3: each rogue episode is compared with each benign one after that turn of "
    "Oversight, or the last that both had. The last turn is confounded by the length of the "
    "episode, which alone would score the column beside it. TPR: after the first turn. Brier, ECE "
    "and right agent: of the last word within three turns."
)


def markdown_report(judgement: Judgement) -> str:
    table = metric_table(judgement.summary, judgement.metrics)
    parts = ["## Oversight", "", f"Value and 95 % interval. {AT}", "", table]
    parts += [line for row in judgement.summary for line in _unknown_suspects(row)]
    if judgement.paired:
        parts += ["", "## Against the heuristic, on equal seeds", "", _paired(judgement.paired)]
    return "\n".join(parts)


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
        [row["policy"], row["tier"], row["measure"], shown(row, "{:+,.1f}".format), str(row["n"])]
        for row in rows
    ]
    return aligned(["policy", "tier", "measure", "difference", "pairs"], table)
