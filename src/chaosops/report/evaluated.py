"""Read results for a model card: summary, manifest, and which policy has the adapter."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_object
from chaosops.core.retired import require_played
from chaosops.evaluation.metrics import METRICS, Metric, as_written, cells, summary_rows
from chaosops.evaluation.monitor import RECORDED_METRICS
from chaosops.evaluation.results import MONITOR, RESULTS_NAME
from chaosops.evaluation.stored import packs_of, results_file
from chaosops.policies.llm.adapter import adapter_identities
from chaosops.policies.llm.spec import without_password
from chaosops.report.tables import by_roles

OURS = "**this adapter**"


@dataclass(frozen=True)
class Evaluated:
    """``labels``: the name of each policy on the card."""

    path: Path
    manifest: Mapping[str, Any]
    summary: Sequence[Mapping[str, Any]]
    monitor: Sequence[Mapping[str, Any]]
    labels: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.path.parent.resolve().name

    @property
    def monitor_metrics(self) -> Sequence[Metric]:
        return as_written(RECORDED_METRICS, json.dumps(self.monitor))

    def labelled(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, "policy": self.labels[row["policy"]]} for row in rows]


def read_evaluated(given: Path, adapter: Path, cure: str) -> Evaluated:
    """Results of the adapter in this folder. Those of another adapter are refused."""
    path = results_file(given) if given.is_dir() else given
    if path is None or not path.is_file():
        raise BadInput(f"cannot read results {path or given / RESULTS_NAME}: not a file; {cure}")
    found = read_object(path, "results")
    try:
        manifest, episodes = found["manifest"], found["episodes"]
        summary = summary_rows(episodes)
        statuses: Mapping[str, Mapping[str, Any]] = manifest["policies"]
        _require_whole(manifest, summary)
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError):
        raise BadInput(f"{path} is not a results file of chaosops eval") from None
    require_played(str(path), packs_of(manifest))
    known = adapter_identities(adapter)
    if not any(_is_played_with(known, status) for status in statuses.values()):
        raise BadInput(f"{path} has no policy with the adapter {adapter} ({known[0]}); {cure}")
    if without_password(json.dumps(manifest)) != json.dumps(manifest):
        raise BadInput(f"{path} names an address with a password; it must not be published")
    beside = path.with_name(MONITOR)
    monitor = _monitor(beside, statuses) if beside.is_file() else []
    labels = {policy: _label(policy, status, known) for policy, status in statuses.items()}
    return Evaluated(path, manifest, summary, monitor, labels)


def _require_whole(manifest: Mapping[str, Any], summary: Sequence[Mapping[str, Any]]) -> None:
    """Raise an error if something that a card quotes is missing or cannot be written."""
    texts = [manifest["command"], manifest["version"], manifest["commit"] or ""]
    texts += [pack[name] for pack in manifest["packs"].values() for name in ("version", "hash")]
    texts += manifest.get("splits") or []
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a text is missing")
    int(manifest["episodes_per_policy"])
    for status in manifest["policies"].values():
        by_roles(status)
    for row in summary:
        cells(row, METRICS)
        if row["policy"] not in manifest["policies"] or not math.isfinite(row["mean_reward"]):
            raise ValueError("a row has no policy, or a value is not a number")


def _monitor(path: Path, policies: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    try:
        rows: Sequence[Mapping[str, Any]] = read_object(path, "monitor figures")["summary"]
        for row in rows:
            cells(row, RECORDED_METRICS)
            policies[row["policy"]]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(f"{path} is not a monitor.json of chaosops eval") from None
    return rows


def _adapters(status: Mapping[str, Any]) -> str:
    return " ".join(str(each.get("adapter")) for _, each in by_roles(status))


def _is_played_with(known: Sequence[str], status: Mapping[str, Any]) -> bool:
    return any(identity in _adapters(status) for identity in known)


def _label(policy: str, status: Mapping[str, Any], known: Sequence[str]) -> str:
    """The adapter has the same name for every folder that it was loaded from."""
    players = by_roles(status)
    if not _is_played_with(known, status):
        return policy.replace("|", "\\|")
    if len(players) == 1:
        return OURS
    return "; ".join(
        f"{', '.join(roles)}: {OURS if _is_played_with(known, each) else each.get('policy')}"
        for roles, each in players
    )
