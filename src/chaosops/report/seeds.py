"""Training runs that differ by their seed, each over its stages: what a card reports of them.

FOLDER/SEED/STAGE/{recipe.toml, metrics.jsonl, cost.jsonl}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.evaluation.metrics import metric
from chaosops.report.run_record import RECIPE, read_costs
from chaosops.report.training_figures import read_metrics
from chaosops.training.best import kept_validation, validation_score
from chaosops.training.recipe import Recipe
from chaosops.training.recipe_files import load_recipe
from chaosops.training.run_folder import METRICS
from chaosops.training.stages import Origin, in_stage_order

Rows = list[list[str]]
# The figures of a validation that are shown, by tier.
SHOWN = ("mean_reward", "solved", "rogue_caught", "false_flag_rate")
AUROC = "auroc_turn_3"


@dataclass(frozen=True)
class Stage:
    """A run without its adapter, and perhaps with some of its updates left out."""

    folder: Path
    recipe: Recipe
    validations: Sequence[Mapping[str, Any]]
    costs: Sequence[Mapping[str, Any]]

    @property
    def kept(self) -> Mapping[str, Any] | None:
        return kept_validation(self.recipe, self.validations)

    @property
    def score(self) -> float | None:
        """By which seeds are compared: the mean reward over tiers, on the reserve if there is
        one."""
        return None if self.kept is None else validation_score(self.recipe, self.kept["validation"])

    @property
    def minutes(self) -> float:
        return sum(float(row["seconds"]) for row in self.costs) / 60


def read_stage(folder: Path) -> Stage:
    recipe = load_recipe(folder / RECIPE)
    return Stage(folder, recipe, read_metrics(folder / METRICS)[1], read_costs(folder))


def read_seeds(folder: Path) -> dict[str, list[Stage]]:
    """The stages of each seed, in their order: the first starts from no adapter. Every seed has
    the same stages."""
    seeds: dict[str, list[Stage]] = {}
    for place in sorted(path for path in folder.glob("*") if path.is_dir()):
        stages = [read_stage(each) for each in sorted(place.glob("*")) if each.is_dir()]
        seeds[place.name] = in_order(stages)
    names = [[stage.folder.name for stage in stages] for stages in seeds.values()]
    if any(found != names[0] for found in names):
        raise BadInput(f"the seeds in {folder} do not have the same stages: {names}")
    return seeds


def in_order(stages: Iterable[Stage]) -> list[Stage]:
    """Each after the stage that it starts from."""
    return in_stage_order(stages, lambda stage: Origin(stage.recipe.name, stage.recipe.start))


def judged_tiers(stage: Stage) -> list[str]:
    """The rows of a validation by which seeds are compared: those of the reserve."""
    names = list(stage.kept["validation"]) if stage.kept else []
    return [name for name in names if " " in name] or names


def seeds_table(seeds: Mapping[str, Sequence[Stage]]) -> tuple[list[str], Rows]:
    """Each stage of each seed at the validation whose adapter was kept, by tier."""
    last = next(iter(seeds.values()))[-1]
    split = last.recipe.reserve or last.recipe.split
    tiers = [name.rpartition(" ")[2] for name in judged_tiers(last)]
    titles = [metric(key).title for key in SHOWN]
    headers = [f"{split}, {' / '.join(tiers)}", "updates", *titles, "AUROC, turn 3"]
    rows = []
    for number, name in enumerate(stage.folder.name for stage in next(iter(seeds.values()))):
        for seed, stages in seeds.items():
            rows.append([f"{name}, seed {seed}", *_cells(stages[number])])
    return headers, rows


def _cells(stage: Stage) -> list[str]:
    kept = stage.kept
    if kept is None:
        return ["n/a"] * (len(SHOWN) + 2)
    found = [kept["validation"][name] for name in judged_tiers(stage)]
    return [
        f"{kept['step']:,}",
        *(" / ".join(metric(key).text(row) for row in found) for key in SHOWN),
        " / ".join(_auroc(row.get(AUROC)) for row in found),
    ]


def _auroc(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"


def chosen_words(seeds: Mapping[str, Sequence[Stage]], shipped: Sequence[Stage]) -> str:
    """Which seed ships, and whether its validation chose it. ``shipped`` may have more stages,
    which only the chosen seed went through."""
    best = best_seed(seeds)
    compared = next(iter(seeds.values()))[-1].folder.name
    names = [stage.folder.name for stage in shipped]
    if compared not in names:
        raise BadInput(f"the seeds end with {compared}, which is no stage of the shipped run")
    place = names.index(compared)
    recipe, later = shipped[place].recipe, names[place + 1 :]
    by = f"the highest mean reward over the tiers of `{recipe.reserve or recipe.split}`"
    more = f" It alone went through {' and '.join(f'`{name}`' for name in later)}." if later else ""
    if str(recipe.seed) != best:
        return f"Seed {recipe.seed} ships. Seed {best} has {by}.{more}"
    return (
        f"The run with {by} {'went on' if later else 'ships'}: seed {best}. So its own row is a "
        f"little too good, and is not a result.{more}"
    )


def best_seed(seeds: Mapping[str, Sequence[Stage]]) -> str:
    """By the validation of the last stage."""
    scores = {seed: stages[-1].score for seed, stages in seeds.items()}
    if missing := [seed for seed, score in scores.items() if score is None]:
        raise BadInput(f"seed {missing[0]} was not validated, so the seeds cannot be compared")
    return max(scores, key=lambda seed: scores[seed] or 0.0)
