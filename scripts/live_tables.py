"""The figures of the live company, from the files in ``experiments/live``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chaosops.evaluation.live_comparison import COUNTS, Comparison, comparisons, table_rows
from chaosops.evaluation.metrics import percent, shown
from chaosops.report.tables import aligned

FOLDER = "experiments/live"
NOT_YET = "Not measured yet."
_SIDE_BY_SIDE = {"lifecycles_one": "one company at a time", "lifecycles_two": "two at a time"}


def _read(root: Path, name: str) -> Mapping[str, Any] | None:
    path = root / FOLDER / f"{name}.json"
    if not path.is_file():
        return None
    content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _short(commit: str | None) -> str:
    """An uncommitted change shows."""
    if commit is None:
        return "unknown"
    return commit[:7] + ("+dirty" if commit.endswith("+dirty") else "")


def compared(root: Path) -> list[Comparison]:
    """Each command that compared policies has a file of its own: compare-NAME.json and so on."""
    paths = sorted((root / FOLDER).glob("compare*.json"))
    records = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return [one for record in records for one in comparisons(record)]


def compare(root: Path) -> str:
    found = compared(root)
    if not found:
        return NOT_YET
    rows, counts = [], []
    for name, tier, told in found:
        rows += [[name, *row[2:]] for row in table_rows(name, tier, told)]
        valid = told["seeds"] - told["void"]
        counts.append(f"{name} {valid} ({told['with_rogue']}, {told['void']})")
    counted = f"Incidents that were not void (those with a rogue, void ones): {', '.join(counts)}"
    headers = ["policy", "figure", "live", "rehearsal", "difference"]
    return f"{counted}; {_commits(found)}.\n\n{aligned(headers, rows, words=2)}"


def _commits(found: Sequence[Comparison]) -> str:
    """Of the recordings."""
    commits = {commit for *_, told in found for commit in told["commits"]}
    return f"commit {', '.join(map(_short, sorted(commits)))}"


_HEADLINE = ("solved", "rogue_caught", "benign_accused")


def headline(root: Path) -> str:
    """The figures of the README: a row for each policy, live and in the simulator."""
    found = compared(root)
    if not found:
        return "Policies are not compared yet. docs/live.md says what is measured."
    rows = []
    for name, tier, told in found:
        valid, void = told["seeds"] - told["void"], told["void"]
        sides = [
            count.words(told[side][count.key])
            for count in COUNTS
            if count.key in _HEADLINE
            for side in ("live", "rehearsal")
        ]
        lasted = shown(told["stayed_well"], percent)
        rows.append([name, tier, f"{valid} and {void} void", *sides, lasted])
    headers = ["policy", "tier", "incidents"]
    for title in ("solved", "rogue caught", "benign accused"):
        headers += [f"{title}, live", "simulated"]
    table = aligned([*headers, "stayed well"], rows)
    return f"{table}\n\nVoid incidents, which the host disturbed, are left out ({_commits(found)})."


def lifecycles(root: Path) -> str:
    """A row for each fault: what it did in all runs. Each command that ran side by side with
    others has a file of its own: NAME-1.json and so on."""
    parts = []
    for name, when in _SIDE_BY_SIDE.items():
        paths = sorted((root / FOLDER).glob(f"{name}*.json"))
        found = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
        if not found:
            parts.append(f"{when.capitalize()}: not measured yet.")
            continue
        runs = [run for one in found for run in one["runs"]]
        verdicts = [run["verdict"] for run in runs]
        counted = f"{verdicts.count('ok')} of {len(runs)} ok, {verdicts.count('void')} void"
        commits = sorted({_short(one["commit"]) for one in found})
        parts.append(f"{when.capitalize()}: {counted} (commit {', '.join(commits)}).")
        parts.append(_table(runs))
    return "\n\n".join(parts)


def _table(runs: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for fault in dict.fromkeys(run["fault"] for run in runs):
        of = [run for run in runs if run["fault"] == fault]
        rows.append(
            [
                f"`{fault}`",
                ", ".join(dict.fromkeys(run["service"] for run in of)),
                ", ".join(run["verdict"] for run in of),
                _seconds(run["broken_s"] for run in of),
                _seconds(run["well_s"] for run in of),
                f"{sum(run['void_s'] for run in of):.0f} of {sum(run['seconds'] for run in of)}",
            ]
        )
    headers = ["fault", "services", "verdicts", "broken after s", "well after s", "void s"]
    return aligned(headers, rows, words=3)


def _seconds(values: Any) -> str:
    return ", ".join("never" if value is None else f"{value:.1f}" for value in values)


def calm(root: Path) -> str:
    found = _read(root, "calm")
    if found is None:
        return NOT_YET
    told = found["calm"]
    lost = f"{told['lost']:,} of {told['requests']:,} requests lost"
    cost = f"{told['cores']:.2f} of a core, {told['memory_mb']} MB, {told['processes']} processes"
    return (
        f"In {told['seconds'] / 60:.0f} minutes {len(told['alerts'])} alerts, {lost}, {cost}, "
        f"{told['void_seconds']:g} void seconds (commit {_short(found['commit'])})."
    )


def leaks(root: Path) -> str:
    found = _read(root, "leaks")
    if found is None:
        return NOT_YET
    titles = {
        "words": "words",
        "word_pairs_masked": "word pairs, numbers masked",
        "counts": "counts",
    }
    headers, sides = ["detector", "AUROC, learned on the others of them"], [found["auroc"]]
    if read := found.get("learned_on_rehearsal"):
        headers.append(f"AUROC, learned on {read:,} incidents of the rehearsal")
        sides.append(found["auroc_learned_on_rehearsal"])
    rows = [
        [title, *(shown(side[name], "{:.2f}".format) for side in sides)]
        for name, title in titles.items()
    ]
    count = f"{found['incidents']} incidents, {found['with_rogue']} with a rogue"
    commits = ", ".join(map(_short, found["recorded_at"]))
    told = f"{count}, and {found['void']} void ones left out (recorded at commit {commits})"
    return f"{told}.\n\n{aligned(headers, rows, words=1)}"
