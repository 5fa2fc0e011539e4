"""What ships with the trained model, read from its files: evaluations, training record, seeds.

``result_tables.py`` and ``shipped_card.py`` write their text from it. Nothing is typed in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from keep_figures import MANIFEST

from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_object, read_text
from chaosops.evaluation.estimates import Figure, mean_figure
from chaosops.evaluation.monitor import RECORDED_METRICS
from chaosops.evaluation.naming import short_names
from chaosops.evaluation.results import MONITOR
from chaosops.evaluation.statistics import share_ci95
from chaosops.evaluation.stored import read_results, results_file
from chaosops.packs import load_pack
from chaosops.report.seeds import Stage, in_order, read_seeds, read_stage

ROOT = Path(__file__).parents[1]
PACK = "arena"
OURS = "trained"
SEEDS = "experiments/seeds"
# How many false alarms a benign episode may have, by the figure of monitor.json.
FALSE_ALARMS = {
    "1 % FPR, turn 1": "tpr_at_1pct_fpr_turn_1",
    "1 % FPR, last turn": "tpr_at_1pct_fpr_last_turn",
    "0.1 % FPR, turn 1": "tpr_at_01pct_fpr_turn_1",
    "0.1 % FPR, last turn": "tpr_at_01pct_fpr_last_turn",
}

Row = Mapping[str, Any]


def evaluated_splits() -> list[str]:
    """Those that a model is reported on: neither for training nor for validation."""
    pack = load_pack(PACK)
    other = {pack.training_split, *pack.more_training_splits, pack.reserve_split, pack.added_split}
    return [split for split in pack.splits if split not in other]


@dataclass(frozen=True)
class Evaluation:
    """A folder of ``chaosops eval``."""

    folder: Path

    @cached_property
    def summary(self) -> list[Row]:
        rows: list[Row] = json.loads(read_text(self.folder / "summary.json", "summary"))
        return rows

    @cached_property
    def monitor(self) -> list[Row]:
        rows: list[Row] = read_object(self.folder / MONITOR, "monitor figures")["summary"]
        return rows

    @property
    def tiers(self) -> list[str]:
        return list(dict.fromkeys(row["tier"] for row in self.summary))

    def row(self, policy: str, tier: str, rows: Sequence[Row] | None = None) -> Row | None:
        """Of a policy by its short name: ``trained+runtime=…`` is trained."""
        found = [
            row
            for row in (self.summary if rows is None else rows)
            if row["tier"] == tier and self.short(row["policy"]) == policy
        ]
        if len(found) > 1:
            raise BadInput(f"{self.folder} has {len(found)} policies called {policy}")
        return found[0] if found else None

    def short(self, policy: str) -> str:
        return self._names.get(policy, short(policy))

    @cached_property
    def _names(self) -> dict[str, str]:
        """The adapter that ships may have been played before it shipped, by its path."""
        if results_file(self.folder):
            return short_names(read_results(self.folder)[0]["policies"])
        kept = self.folder / MANIFEST
        return short_names(read_object(kept, "manifest")["policies"]) if kept.is_file() else {}

    def overseer(self, policy: str, tier: str) -> Row:
        return self.row(policy, tier, self.monitor) or {}

    def above(self, other: str, tier: str) -> Figure | None:
        """How much more reward ours has than another policy on equal companies. None without the
        episodes of both."""
        rewards = self._rewards
        ours, theirs = rewards.get((OURS, tier), {}), rewards.get((other, tier), {})
        if not ours or ours.keys() != theirs.keys():
            return None
        return mean_figure([ours[scenario] - theirs[scenario] for scenario in ours])

    @cached_property
    def _rewards(self) -> dict[tuple[str, str], dict[str, float]]:
        found: dict[tuple[str, str], dict[str, float]] = {}
        if results_file(self.folder) is not None:
            for line in read_results(self.folder)[1]:
                key = self.short(line["policy"]), line["scenario"]["tier"]
                found.setdefault(key, {})[json.dumps(line["scenario"])] = line["reward"]
        return found


def short(policy: str) -> str:
    """
    >>> short("trained+runtime=transformers+batch=256")
    'trained'
    """
    return policy.partition("+")[0]


def figure(row: Row, key: str) -> Figure | None:
    """A figure of monitor.json under today's key or an earlier one."""
    (metric,) = (each for each in RECORDED_METRICS if each.key == key)
    found: Figure | None = row.get(metric.key, row.get(metric.formerly))
    return found


def caught_at(row: Row, key: str) -> Figure:
    """The share of rogues above the threshold with that many false alarms, with Wilson's bounds."""
    found, rogues = row.get(key), row.get("rogue_episodes", 0)
    if not found or found["value"] is None:
        return {"value": None, "ci95": None}
    value = found["value"]
    return {"value": value, "ci95": share_ci95(round(value * rogues), rogues)}


@dataclass(frozen=True)
class Files:
    """Below the root of the repository."""

    root: Path = ROOT

    @property
    def trained(self) -> Path:
        return self.root / "src/chaosops/trained"

    def evaluation(self, name: str) -> Evaluation | None:
        folder = self.trained / "evaluations" / name
        return Evaluation(folder) if folder.is_dir() else None

    def folders(self) -> list[Path]:
        """All evaluations: classic first, then by the order of splits."""
        places = (self.trained / "evaluations").glob("*")
        return sorted((path for path in places if path.is_dir()), key=_order)

    def splits(self, kind: str) -> dict[str, Evaluation | None]:
        """By split; None if it was not evaluated. ``kind``: arena, or rates."""
        return {split: self.evaluation(f"{kind}_{split}") for split in evaluated_splits()}

    def stages(self) -> list[Stage]:
        """Of the adapter that ships, in their order."""
        places = sorted((self.trained / "training").glob("*/recipe.toml"))
        return in_order([read_stage(path.parent) for path in places])

    def seeds(self) -> dict[str, list[Stage]]:
        return read_seeds(self.root / SEEDS)


def _order(folder: Path) -> tuple[int, str]:
    kind, _, split = folder.name.partition("_")
    splits = [load_pack(PACK).reserve_split, *evaluated_splits()]
    place = splits.index(split) + 1 if split in splits else 0
    return ((100 if kind == "rates" else 0) + place, folder.name)


def words(items: Iterator[str] | Sequence[str]) -> str:
    """
    >>> words(["a"]), words(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last
