"""What a run finds and leaves in its folder, whoever trains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, write_text
from chaosops.core.inputs import read_object, read_text
from chaosops.training.ranks import Ranks
from chaosops.training.recipe import Recipe
from chaosops.training.recipe_files import load_recipe

METRICS = "metrics.jsonl"
START = "start.json"  # what the learner was when the run began
PROCESSES = "processes.json"  # how many share the run


def enter_folder(
    recipe: Recipe, folder: Path, *, resume: bool, holds_run: bool, ranks: Ranks
) -> None:
    """A new run overwrites none; one that is resumed goes on with its own recipe."""
    open_folder(folder)
    saved = folder / "recipe.toml"
    if resume:
        if not saved.is_file() or load_recipe(saved) != recipe:
            raise BadInput(f"{saved} is missing or another recipe: a run is resumed with its own")
        _require_as_many(folder / PROCESSES, ranks)
        return
    if holds_run:
        raise BadInput(f"{folder} holds a run already; resume it, or choose another folder")
    ranks.wait()
    if ranks.leads:
        write_text(saved, recipe.to_toml())
        # A run that ended before its first checkpoint may have left them.
        for left in (METRICS, START):
            (folder / left).unlink(missing_ok=True)
        write_text(folder / PROCESSES, json.dumps({"processes": ranks.size}) + "\n")


def _require_as_many(path: Path, ranks: Ranks) -> None:
    """Which episodes a process learns from depends on how many there are. Runs of older
    versions have no such file."""
    if not path.is_file():
        return
    began = read_object(path, "processes of the run").get("processes")
    if began != ranks.size:
        start = "" if began == 1 else f"accelerate launch --num_processes {began} -m "
        raise BadInput(
            f"this run was begun on {began} GPUs or processes and cannot go on on {ranks.size}: "
            f"{start}chaosops train RECIPE --resume"
        )


def open_metrics(path: Path, step: int, first: dict[str, Any] | None = None) -> None:
    """Rows after the checkpoint will be written again; the last may be torn."""
    rows = []
    if path.is_file():
        lines = read_text(path, "metrics").split("\n")[:-1]
        rows = [f"{line}\n" for n, line in enumerate(lines, 1) if 0 < _step(path, n, line) <= step]
    if first:
        rows.insert(0, json.dumps(first) + "\n")
    write_text(path, "".join(rows))


def _step(path: Path, number: int, line: str) -> int:
    try:
        return int(json.loads(line)["step"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BadInput(f"{path}:{number} is no row of a run; begin the run anew") from None
