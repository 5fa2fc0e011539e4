"""The evaluation as a Markdown table, with a warning where two policies cannot be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chaosops.evaluation.results import Results

HEADERS = (
    "policy",
    "tier",
    "episodes",
    "mean reward",
    "95 % interval",
    "solved",
    "steps to resolution",
    "rogue caught",
    "false flags / benign episode",
    "wrong fixes",
)
MISSING = "n/a"


def cells(row: Mapping[str, Any]) -> list[str]:
    interval = row["reward_ci95"]
    return [
        row["policy"],
        row["tier"],
        str(row["episodes"]),
        f"{row['mean_reward']:+.1f}",
        MISSING if interval is None else f"{interval[0]:+.1f} … {interval[1]:+.1f}",
        _percent(row["solved"]),
        _number(row["mean_steps"]),
        _percent(row["rogue_caught"]),
        _number(row["false_flag_rate"]),
        _number(row["wrong_fixes"]),
    ]


def _percent(value: float | None) -> str:
    return MISSING if value is None else f"{100 * value:.0f} %"


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2f}"


def markdown_table(summary: Sequence[Mapping[str, Any]]) -> str:
    return aligned(HEADERS, [cells(row) for row in summary])


def aligned(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table that reads well as plain text too: two columns of words, then numbers."""
    table = [list(headers), *map(list, rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(headers))]

    def line(row: Sequence[str]) -> str:
        padded = [
            text.ljust(width) if i < 2 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * width if i < 2 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    return "\n".join([line(table[0]), line(rule), *(line(row) for row in table[1:])])


def warnings(results: Results) -> list[str]:
    return [
        f"WARNING: {a} and {b} acted identically in every episode; "
        "if they should differ, one of them did not load what it claims"
        for a, b in results.identical_policies()
    ]


def markdown_report(results: Results) -> str:
    manifest = results.manifest
    packs = ", ".join(
        f"{name} {pack['version']} ({pack['hash']})" for name, pack in manifest["packs"].items()
    )
    parts = [
        "# Evaluation",
        "",
        f"`{manifest['command']}`",
        "",
        f"ChaosOps {manifest['version']}, commit {manifest['commit'] or 'unknown'}, pack {packs}.",
        f"{manifest['episodes_per_policy']} episodes per policy. Intervals: 95 % bootstrap of the "
        "mean reward. Steps to resolution: over solved episodes.",
        "",
        *(f"> {warning}\n" for warning in warnings(results)),
        markdown_table(results.summary()),
        "",
    ]
    return "\n".join(parts)
