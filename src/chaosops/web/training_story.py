"""One company at several updates of a training run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.evaluation.outcomes import outcome_of
from chaosops.rubrics import CompositeRubric
from chaosops.training.recipe import validated_rubric
from chaosops.training.recipe_files import load_recipe
from chaosops.training.story import STORY, read_story
from chaosops.web.comparisons import outcome_to_wire
from chaosops.web.recorded_episodes import RecordedEpisode
from chaosops.web.redaction import unreadable
from chaosops.wire.episodes import figures_to_wire, from_record

TOLD = 4  # updates of a story


def read_told(folder: Path) -> dict[str, Any] | None:
    """How the episode ended at some of the updates. None: the run tells no story. A story that
    this version of the world does not reproduce says so, and the curves are shown without it."""
    if not (folder / STORY).is_file():
        return None
    try:
        return _told(folder)
    except ChaosOpsError as error:
        return {"error": unreadable(error)}


def _told(folder: Path) -> dict[str, Any]:
    rows, rubric = chosen(read_story(folder / STORY)), _rubric(folder)
    episodes = [from_record(row["record"], rubric=rubric) for row in rows]
    told = ("pack", "split", "tier", "seed")
    outcomes = [outcome_of({**figures_to_wire(one), "policy": ""}) for one in episodes]
    return {
        "scenario": {name: str(getattr(episodes[0].scenario, name)) for name in told},
        "updates": [
            {"step": row["step"], "policy": _name(row["step"]), **outcome_to_wire(outcome)}
            for row, outcome in zip(rows, outcomes, strict=True)
        ],
    }


def chosen(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """At most ``TOLD`` rows: the first, the last, and those nearest to equal steps between.

    >>> [row["step"] for row in chosen([{"step": n} for n in range(0, 1900, 100)])]
    [0, 600, 1200, 1800]
    """
    last = rows[-1]["step"]
    wanted = [last * part / (TOLD - 1) for part in range(TOLD)]
    near = [min(rows, key=lambda row: abs(row["step"] - step)) for step in wanted]
    return [row for i, row in enumerate(near) if row not in near[:i]]


def find_told(folder: Path, query: Mapping[str, str]) -> RecordedEpisode:
    """The episode of a story that a query names by its update."""
    for row in read_story(folder / STORY):
        if _name(row["step"]) == query.get("policy"):
            rubric = _rubric(folder)
            status = {"kind": "model", "model": f"learner after {row['step']} updates"}
            return RecordedEpisode(from_record(row["record"], rubric=rubric), status, {}, rubric)
    raise BadInput("this run tells of no such update; choose one on the page of training")


def _name(step: int) -> str:
    """The learner after an update, as a policy's name."""
    return f"update {step}"


def _rubric(folder: Path) -> CompositeRubric | None:
    recipe = folder / "recipe.toml"
    return validated_rubric(load_recipe(recipe)) if recipe.is_file() else None
