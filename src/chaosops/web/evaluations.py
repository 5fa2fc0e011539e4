"""Find and read the folders that ``chaosops eval`` wrote."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.chain import read_json
from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_object
from chaosops.core.retired import require_played
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.metrics import (
    METRICS,
    Metric,
    as_written,
    cells,
    headers,
    summary_rows,
)
from chaosops.evaluation.monitor import RECORDED_METRICS
from chaosops.evaluation.naming import short_names
from chaosops.evaluation.outcomes import Outcome, outcomes
from chaosops.evaluation.results import COMPRESSED_NAME, MONITOR, RESULTS_NAME
from chaosops.evaluation.stored import packs_of, results_file
from chaosops.policies.llm.spec import without_password
from chaosops.report.tables import explained
from chaosops.web.redaction import unreadable
from chaosops.web.wire import status_words

VARIABLE = "CHAOSOPS_RESULTS"
RESULTS = (RESULTS_NAME, COMPRESSED_NAME)
SHIPPED = "chaosops.trained"
_CURE = "chaosops verify says what was changed"
_DEPTH = 3
FIGURES = {
    "comparison_curve.png": "Mean reward with its interval, and share resolved, by tier",
    "rogue_vs_mttr.png": "Rogues caught against steps to resolution and against false flags",
    "roc.png": "Receiver operating curve of the suspicion after Oversight's first turn",
    "calibration.png": "Suspicion within three turns of Oversight against how often it was right",
    "learning_curve.png": "Points lost by role and reward on validation during training",
}


Rows = Sequence[Mapping[str, Any]]


class Folder(NamedTuple):
    """A folder with results. Addresses contain its ``key``, never its path."""

    key: str
    title: str
    path: Path


def results_folders() -> list[Path]:
    """The folder in the package, and the folders that the operator named."""
    named = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    spec = find_spec(SHIPPED)
    shipped = [Path(part) for part in (spec.submodule_search_locations or [])] if spec else []
    return [*shipped, *named]


def folders_with(names: Sequence[str], among: Sequence[Path]) -> list[Folder]:
    found: dict[Path, Folder] = {}
    for place in among:
        for path in _walk(place, _DEPTH):
            if any((path / name).is_file() for name in names) and path.resolve() not in found:
                key = blake2b(str(path.resolve()).encode(), digest_size=6).hexdigest()
                inner = path.relative_to(place)
                title = place.name if inner == Path(".") else str(inner)
                found[path.resolve()] = Folder(key, title, path)
    return list(found.values())


def _walk(place: Path, depth: int) -> Iterator[Path]:
    if not place.is_dir():
        return
    yield place
    if depth:
        for inner in sorted(place.iterdir()):
            if inner.is_dir() and not inner.name.startswith((".", "__")):
                yield from _walk(inner, depth - 1)


class Read(NamedTuple):
    """What the page is told of a folder, and the outcomes that it may ask for."""

    report: dict[str, Any]
    outcomes: Sequence[Outcome] = ()


def read_evaluation(folder: Folder) -> Read:
    head = {"key": folder.key, "title": folder.title}
    try:
        content = read_object(results_file(folder.path) or folder.path / RESULTS_NAME, "results")
        manifest = json.loads(without_password(json.dumps(content["manifest"])))
        require_played("it", packs_of(manifest))
        labels = short_names(manifest["policies"])
        own = json.loads(json.dumps(summary_rows(content["episodes"])))
        summary = _read(folder.path / "summary.json")
        _compare_summary(summary, own, intervals="chain" in manifest)
        # Earlier versions knew fewer metrics.
        whole = [{**wanted, **row} for row, wanted in zip(summary, own, strict=True)]
        oversight = None
        if (folder.path / MONITOR).is_file():
            monitor = _read(folder.path / MONITOR)["summary"]
            _compare_monitor(monitor, own)
            metrics = as_written(RECORDED_METRICS, json.dumps(monitor))
            oversight = _table(monitor, metrics, labels)
        report = {
            **head,
            "manifest": _manifest(manifest, labels),
            "summary": _labelled(whole, labels),
            "table": _table(whole, METRICS, labels),
            "oversight": oversight,
            "warnings": _warnings(folder.path / "table.md", manifest),
            "figures": figures_of(folder.path),
        }
        found = [one._replace(policy=labels[one.policy]) for one in outcomes(content["episodes"])]
        return Read(report, found)
    except (OSError, BadInput, ValueError, KeyError, TypeError) as error:
        return Read({**head, "error": unreadable(error)})


def _compare_summary(rows: Rows, own: Rows, *, intervals: bool) -> None:
    """Refuse figures that contradict the episodes. Earlier versions computed intervals in another
    way: these are not compared."""
    if len(own) != len(rows):
        raise ValueError(f"summary.json is not of these episodes; {_CURE}")
    for row, wanted in zip(rows, own, strict=True):
        for name, value in wanted.items():
            if row.get(name, value) != value and (intervals or name != "reward_ci95"):
                raise _changed("summary.json", name, wanted)


def _compare_monitor(rows: Rows, own: Rows) -> None:
    for row, wanted in zip(rows, own, strict=True):
        for name, of in (("reward", "mean_reward"), ("rogue_caught", "rogue_caught")):
            if row[name]["value"] != wanted[of]:
                raise _changed(MONITOR, name, wanted)


def _changed(file: str, name: str, row: Mapping[str, Any]) -> ValueError:
    return ValueError(f"{file} was changed: {name} of {row['policy']}, {row['tier']}; {_CURE}")


def _labelled(rows: Rows, labels: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{**row, "policy": labels[row["policy"]]} for row in rows]


def figures_of(path: Path) -> list[dict[str, str]]:
    return [
        {"name": name, "words": words} for name, words in FIGURES.items() if (path / name).is_file()
    ]


def _read(path: Path) -> Any:
    """Read JSON without the passwords that endpoint addresses may hold."""
    return read_json(without_password(path.read_text(encoding="utf-8")))


def _manifest(manifest: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "command": manifest["command"],
        "version": manifest["version"],
        "commit": manifest["commit"],
        "packs": [
            f"{name}, version {of['version']} ({of['hash']})"
            for name, of in manifest["packs"].items()
        ],
        "splits": manifest["splits"],
        "tiers": [tier.value for tier in Tier if tier.value in manifest["tiers"]],
        "seeds": spans(manifest["seeds"]),
        "episodes_per_policy": manifest["episodes_per_policy"],
        "policies": {labels[name]: status_words(of) for name, of in manifest["policies"].items()},
    }


def spans(numbers: Sequence[int]) -> str:
    """
    >>> spans([0, 1, 2, 7, 9, 10])
    '0 to 2, 7, 9, 10'
    """
    words: list[str] = []
    for _, pairs in groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
        span = [number for _, number in pairs]
        words += [f"{span[0]} to {span[-1]}"] if len(span) > 2 else map(str, span)
    return ", ".join(words)


def _table(rows: Rows, metrics: Sequence[Metric], labels: Mapping[str, str]) -> dict[str, Any]:
    shown = [cells(row, metrics) for row in _labelled(rows, labels)]
    return {"headers": headers(metrics), "rows": shown}


def _warnings(path: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Warnings of the evaluation: the quotation lines of its table."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [explained(line[2:], manifest) for line in lines if line.startswith("> ")]
