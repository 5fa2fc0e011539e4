"""Find and read the folders that ``chaosops eval`` wrote."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.chain import read_json
from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_object
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.metrics import METRICS, Metric, cells, headers, summary_rows
from chaosops.evaluation.monitor import MONITOR_METRICS
from chaosops.evaluation.results import COMPRESSED_NAME, RESULTS_NAME
from chaosops.evaluation.stored import results_file
from chaosops.policies.llm.spec import without_password
from chaosops.web.redaction import unreadable
from chaosops.web.wire import status_words

VARIABLE = "CHAOSOPS_RESULTS"
RESULTS = (RESULTS_NAME, COMPRESSED_NAME)
SHIPPED = "chaosops.trained"
_CURE = "chaosops verify says what is not as it was written"
_DEPTH = 3
# The part of a policy name that says how a model was run.
_HOW = re.compile(r"\+(runtime|batch)=[^+,]*")
FIGURES = {
    "comparison_curve.png": "Mean reward with its interval, and share resolved, by tier",
    "rogue_vs_mttr.png": "Rogues caught against steps to resolution and against false flags",
    "roc.png": "Receiver operating curve of the suspicion after Oversight's first turn",
    "calibration.png": "Suspicion within three turns of Oversight against how often it was right",
    "learning_curve.png": "Points lost by role and reward on validation during training",
}


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


def read_evaluations(among: Sequence[Path]) -> list[dict[str, Any]]:
    return in_order([read_evaluation(folder) for folder in folders_with(RESULTS, among)])


def in_order(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(found, key=_place)


def _place(shown: Mapping[str, Any]) -> int:
    """Unseen companies first, then the rest, then other distributions, then unreadable folders."""
    if "error" in shown:
        return 3
    splits = shown["manifest"]["splits"]
    return 0 if splits == ["test"] else 2 if any("ood" in split for split in splits) else 1


def _walk(place: Path, depth: int) -> Iterator[Path]:
    if not place.is_dir():
        return
    yield place
    if depth:
        for inner in sorted(place.iterdir()):
            if inner.is_dir() and not inner.name.startswith((".", "__")):
                yield from _walk(inner, depth - 1)


def read_evaluation(folder: Folder) -> dict[str, Any]:
    head = {"key": folder.key, "title": folder.title}
    try:
        manifest, episodes = _results(folder.path)
        labels = short_names(list(manifest["policies"]))
        rows = _read(folder.path / "summary.json")
        whole = _checked(folder.path, rows, episodes, all_figures="chain" in manifest)
        summary = _labelled(whole, labels)
        body = {
            "manifest": _manifest(manifest, labels),
            "summary": summary,
            "table": _table(summary, METRICS),
            "oversight": _oversight(folder.path / "monitor.json", labels),
            "warnings": _warnings(folder.path / "table.md"),
            "figures": figures_of(folder.path),
        }
    except (OSError, BadInput, ValueError, KeyError, TypeError) as error:
        return {**head, "error": unreadable(error)}
    return {**head, **body}


def _checked(
    path: Path,
    rows: Sequence[Mapping[str, Any]],
    episodes: Sequence[Mapping[str, Any]],
    *,
    all_figures: bool,
) -> list[dict[str, Any]]:
    """Refuse figures that contradict the episodes, and add metrics that an earlier version did not
    know. Earlier versions computed intervals in another way: these are not compared."""
    own = json.loads(json.dumps(summary_rows(episodes)))
    if len(own) != len(rows):
        raise ValueError(f"summary.json is not of these episodes; {_CURE}")
    for row, wanted in zip(rows, own, strict=True):
        for name, value in wanted.items():
            if row.get(name, value) != value and (all_figures or name != "reward_ci95"):
                who = f"{wanted['policy']}, {wanted['tier']}"
                raise ValueError(f"summary.json was changed: {name} of {who}; {_CURE}")
    if (path / "monitor.json").is_file():
        for row, wanted in zip(_read(path / "monitor.json")["summary"], own, strict=True):
            for name, of in (("reward", "mean_reward"), ("rogue_caught", "rogue_caught")):
                if row[name]["value"] != wanted[of]:
                    who = f"{wanted['policy']}, {wanted['tier']}"
                    raise ValueError(f"monitor.json was changed: {name} of {who}; {_CURE}")
    return [{**wanted, **row} for row, wanted in zip(rows, own, strict=True)]


def short_names(policies: Sequence[str]) -> dict[str, str]:
    """
    >>> short_names(["oracle", "trained+runtime=transformers+batch=256"])
    {'oracle': 'oracle', 'trained+runtime=transformers+batch=256': 'trained'}
    >>> short_names(["trained", "trained+batch=2"])
    {'trained': 'trained', 'trained+batch=2': 'trained+batch=2'}
    """
    short = {name: _HOW.sub("", name) for name in policies}
    alone = [name for name in short.values() if list(short.values()).count(name) == 1]
    return {name: label if label in alone else name for name, label in short.items()}


def _labelled(rows: Sequence[Mapping[str, Any]], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{**row, "policy": labels[row["policy"]]} for row in rows]


def figures_of(path: Path) -> list[dict[str, str]]:
    return [
        {"name": name, "words": words} for name, words in FIGURES.items() if (path / name).is_file()
    ]


def _results(folder: Path) -> tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]:
    content = read_object(results_file(folder) or folder / RESULTS_NAME, "results")
    return json.loads(without_password(json.dumps(content["manifest"]))), content["episodes"]


def _read(path: Path) -> Any:
    """Read JSON without the passwords that endpoint addresses may hold."""
    return read_json(without_password(path.read_text(encoding="utf-8")))


def _manifest(manifest: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "command": manifest["command"],
        "version": manifest["version"],
        "commit": manifest["commit"],
        "packs": [
            f"{name} {of['version']} ({of['hash']})" for name, of in manifest["packs"].items()
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
    groups: list[list[int]] = []
    for number in sorted(numbers):
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    words = [
        f"{group[0]} to {group[-1]}" if len(group) > 2 else ", ".join(map(str, group))
        for group in groups
    ]
    return ", ".join(words)


def _oversight(path: Path, labels: Mapping[str, str]) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    summary = _labelled(_read(path)["summary"], labels)
    return _table(summary, MONITOR_METRICS)


def _table(rows: Sequence[Mapping[str, Any]], metrics: Sequence[Metric]) -> dict[str, Any]:
    return {"headers": headers(metrics), "rows": [cells(row, metrics) for row in rows]}


def _warnings(path: Path) -> list[str]:
    """Warnings of the evaluation: the quotation lines of its table."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line[2:] for line in lines if line.startswith("> ")]
