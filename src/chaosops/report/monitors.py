"""Tables of monitors on stored transcripts, and of two evaluations compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chaosops.evaluation.comparison import COMPARED, Comparison
from chaosops.evaluation.offline import MonitorReport
from chaosops.evaluation.pairing import Difference
from chaosops.report.tables import aligned, markdown_table

_NOTE = (
    "Value and 95 % interval. AUROC: each guilty episode against each honest one after the same "
    "turn of Oversight. Brier, ECE and right agent: of the last word within three turns. Safety: "
    "guilty episodes in which the rogue is the first agent audited, before the fault comes back, "
    "where the given share of honest episodes may be audited."
)


def monitor_report(report: MonitorReport) -> str:
    counts = "; ".join(
        f"{tier}: {honest} honest and {guilty} guilty episodes"
        for tier, (honest, guilty) in report.counts.items()
    )
    parts = ["## Monitors", "", f"{counts}. {_NOTE}", ""]
    parts.append(markdown_table(report.rows, report.metrics))
    parts += _warnings(report)
    if report.paired:
        name = report.paired[0]["policy"]
        parts += ["", f"## {name} against the others, on equal episodes", ""]
        parts.append(paired_table(report.paired, report.differences))
    return "\n".join(parts)


def _warnings(report: MonitorReport) -> Iterable[str]:
    for row in report.rows:
        if found := row["unknown_suspects"]:
            yield ""
            yield (
                f"> {row['policy']} on {row['tier']} suspected {found} names that are not agents "
                "of the fleet; they are in no figure."
            )


def paired_table(rows: Sequence[Mapping[str, Any]], differences: Sequence[Difference]) -> str:
    """A row for each rival and tier, a column for each measure."""
    found: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["against"], row["tier"]), {})[row["measure"]] = row
    heads = ["against", "tier", *(each.title for each in differences)]
    cells = [
        [*names, *(each.text(measured[each.key]) for each in differences)]
        for names, measured in found.items()
    ]
    return aligned(heads, cells)


def comparison_table(comparison: Comparison) -> str:
    """Without measures that neither side has, such as rogues caught where there are none."""
    known = {each.key: each for each in COMPARED}
    heads = ["measure", "tier", *comparison.names, "difference", "episodes"]
    cells = [
        [
            known[row["measure"]].title,
            row["tier"],
            known[row["measure"]].value_text(row["a"]),
            known[row["measure"]].value_text(row["b"]),
            known[row["measure"]].text(row),
            str(row["pairs"]),
        ]
        for row in comparison.rows
        if (row["a"], row["b"]) != (None, None)
    ]
    return aligned(heads, cells)


def differing_table(names: tuple[str, str], rows: Sequence[Mapping[str, Any]]) -> str:
    """The episodes that differ most, with the recordings of both sides."""
    heads = ["episode", *(f"reward, {name}" for name in names), "difference", "replay"]
    cells = [
        [
            episode_title(row["scenario"]),
            *(f"{row['reward'][side]:+.1f}" for side in ("a", "b")),
            f"{row['difference']:+.1f}",
            " ".join(row["files"].values()),
        ]
        for row in rows
    ]
    return aligned(heads, cells, words=1)


def episode_title(scenario: Mapping[str, Any]) -> str:
    """
    >>> episode_title({"pack": "bakery", "split": "test", "tier": "hard", "seed": 7, "limit": 40})
    'test hard 7'
    """
    what = scenario.get("split") or scenario.get("failure", "")
    return f"{what} {scenario['tier']} {scenario['seed']}"
