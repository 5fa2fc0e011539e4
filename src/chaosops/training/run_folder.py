"""The folder of a run, for both methods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, write_text
from chaosops.core.inputs import read_object, read_text
from chaosops.policies.llm.trained_on import read_trained_on, write_trained_on
from chaosops.training.process_group import ProcessGroup
from chaosops.training.recipe import Recipe
from chaosops.training.recipe_files import load_recipe
from chaosops.training.story import STORY

METRICS = "metrics.jsonl"
START = "start.json"  # the learner at the start of the run
PROCESSES = "processes.json"  # the number of processes


def enter_folder(
    recipe: Recipe, folder: Path, *, resume: bool, holds_run: bool, group: ProcessGroup
) -> None:
    """Prepare the folder. A new run never overwrites another. A resumed run must have the same
    recipe."""
    open_folder(folder)
    saved = folder / "recipe.toml"
    if resume:
        if not saved.is_file() or load_recipe(saved) != recipe:
            raise BadInput(
                f"{saved} is missing or another recipe: resume a run with its own recipe"
            )
        _require_as_many(folder / PROCESSES, group)
        return
    if holds_run:
        raise BadInput(f"{folder} holds a run already; resume it, or choose another folder")
    group.wait()
    if group.is_main:
        write_text(saved, recipe.to_toml())
        # A run that stopped before its first checkpoint may have left these.
        for left in (METRICS, START, STORY):
            (folder / left).unlink(missing_ok=True)
        write_text(folder / PROCESSES, json.dumps({"processes": group.size}) + "\n")


def note_packs(recipe: Recipe, adapter: Path) -> None:
    """Write down what the adapter was trained on, with what it was trained on before."""
    before = read_trained_on(Path(recipe.start)) if recipe.start else None
    write_trained_on(adapter, {**(before or {}), **recipe.packs})


def _require_as_many(path: Path, group: ProcessGroup) -> None:
    """The number of processes decides which episodes each one gets. Runs of older versions have
    no such file."""
    if not path.is_file():
        return
    began = read_object(path, "processes of the run").get("processes")
    if began != group.size:
        start = "" if began == 1 else f"accelerate launch --num_processes {began} -m "
        raise BadInput(
            f"this run was started with {began} GPUs or processes and cannot go on with "
            f"{group.size}: {start}chaosops train RECIPE --resume"
        )


def open_metrics(path: Path, step: int, first: dict[str, Any] | None = None) -> None:
    """Remove the rows after the checkpoint: they will be written again. The last row may be
    incomplete."""
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
        raise BadInput(f"{path}:{number} is not a row of a run; start the run again") from None
