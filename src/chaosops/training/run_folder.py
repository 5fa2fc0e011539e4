"""What a run finds and leaves in its folder, whoever trains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, write_text
from chaosops.training.ranks import Ranks
from chaosops.training.recipe import Recipe

METRICS = "metrics.jsonl"
START = "start.json"  # what the learner was when the run began


def enter_folder(
    recipe: Recipe, folder: Path, *, resume: bool, holds_run: bool, ranks: Ranks
) -> None:
    """A new run overwrites none; one that is resumed goes on with its own recipe."""
    open_folder(folder)
    saved = folder / "recipe.toml"
    if resume:
        if not saved.is_file() or saved.read_text(encoding="utf-8") != recipe.to_toml():
            raise BadInput(f"{saved} is missing or another recipe: a run is resumed with its own")
        return
    if holds_run:
        raise BadInput(f"{folder} holds a run already; resume it, or choose another folder")
    ranks.wait()
    if ranks.leads:
        write_text(saved, recipe.to_toml())
        # A run that ended before its first checkpoint may have left them.
        for left in (METRICS, START):
            (folder / left).unlink(missing_ok=True)


def open_metrics(path: Path, step: int, first: dict[str, Any] | None = None) -> None:
    """Rows after the checkpoint will be written again; the last may be torn."""
    rows = []
    if path.is_file():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n")]
        rows = [line for line in whole if 0 < json.loads(line)["step"] <= step]
    if first:
        rows.insert(0, json.dumps(first) + "\n")
    write_text(path, "".join(rows))
