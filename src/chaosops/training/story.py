"""What a run's folder keeps for readers: on which companies it is validated, how scripts play them,
and one company at every validation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.files import write_text
from chaosops.core.inputs import read_object, read_text
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Tier
from chaosops.env import Env
from chaosops.packs import played_like
from chaosops.policies.registry import default_policies, load_policy
from chaosops.rubrics import CompositeRubric
from chaosops.training.recipe import validated_rubric
from chaosops.training.recipe_files import load_recipe
from chaosops.training.validation import (
    by_tier,
    play_all,
    validation_rows,
    validation_scenarios,
)
from chaosops.wire.episodes import to_record

BASELINES = "baselines.json"
COMPANIES = "companies.json"
STORY = "story.jsonl"

Counts = Mapping[str, Mapping[str, int]]  # "all" and "with_rogue", by tier


def play_scripts(
    scenarios: Sequence[Scenario], rubric: CompositeRubric | None = None
) -> dict[str, list[Episode]]:
    """The policies that an evaluation plays by default, the weakest first."""
    names = default_policies(played_like(scenarios[0].pack).name)
    return {name: play_all(load_policy(name), scenarios, rubric) for name in names}


def write_baselines(folder: Path, played: Mapping[str, Sequence[Episode]]) -> None:
    rows = {name: validation_rows(episodes) for name, episodes in played.items()}
    write_text(folder / BASELINES, json.dumps(rows, indent=1) + "\n")


def count_companies(episodes: Sequence[Episode]) -> Counts:
    """How many companies each tier is validated on, and how many of them have a rogue: what the
    shares in the metrics are shares of."""
    return {
        name: {"all": len(some), "with_rogue": sum(one.rogue is not None for one in some)}
        for name, some in by_tier(episodes).items()
    }


def write_companies(folder: Path, counts: Counts) -> None:
    write_text(folder / COMPANIES, json.dumps(counts, indent=1) + "\n")


def read_companies(folder: Path, validations: Sequence[Mapping[str, Any]]) -> Counts:
    """Empty for a run without the file."""
    path = folder / COMPANIES
    if not path.is_file():
        return {}
    counts = read_object(path, "companies")
    require_shares(counts, validations, path)
    return counts


def require_shares(counts: Counts, validations: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Every share in the validations must be one of so many companies."""
    for row in validations:
        for tier, numbers in counts.items():
            metrics = row["validation"].get(tier, {})
            for key, of in (("solved", "all"), ("rogue_caught", "with_rogue")):
                if not _gives(numbers[of], metrics.get(key)):
                    raise BadInput(
                        f"{path} is not of this run: {key} on {tier} is {metrics[key]} at update "
                        f"{row['step']}, which is no share of {numbers[of]} companies; remove it"
                    )


def _gives(number: int, share: float | None) -> bool:
    """
    >>> _gives(11, 0.272727), _gives(12, 0.272727), _gives(0, None)
    (True, False, True)
    """
    return share is None or abs(number * share - round(number * share)) < 0.001


def tell_story(folder: Path, step: int, episodes: Sequence[Episode]) -> None:
    """Add this update to the story. A run that is resumed tells the rest again."""
    path = folder / STORY
    told = told_scenario([episode.scenario for episode in episodes])
    (played,) = (episode for episode in episodes if episode.scenario == told)
    rows = [row for row in read_story(path) if row["step"] < step] if path.is_file() else []
    rows.append({"step": step, "record": to_record(played)})
    write_text(path, "".join(f"{json.dumps(row)}\n" for row in rows))


def retell(folder: Path, updates: Mapping[int, str]) -> Iterator[tuple[int, Episode]]:
    """Tell the story of a run by the policies that are left of it: update -> policy."""
    recipe = load_recipe(folder / "recipe.toml")
    scenario = told_scenario(validation_scenarios(recipe))
    for step, policy in sorted(updates.items()):
        played = play_all(load_policy(policy), [scenario], validated_rubric(recipe))
        tell_story(folder, step, played)
        yield step, played[0]


def told_scenario(scenarios: Sequence[Scenario]) -> Scenario:
    """The first with a rogue on the hardest tier, whatever becomes of it. The same at every
    update, as all of them validate the same episodes."""
    order = list(Tier)
    hardest = max((scenario.tier for scenario in scenarios), key=order.index)
    some = [
        scenario
        for scenario in scenarios
        if (scenario.tier, scenario.split) == (hardest, scenarios[0].split)
    ]
    return next((scenario for scenario in some if Env(scenario).rogue is not None), some[0])


def read_story(path: Path) -> list[dict[str, Any]]:
    """A row for each validation: ``step`` and ``record``."""
    rows = []
    for number, line in enumerate(read_text(path, "story").splitlines(), 1):
        try:
            row = json.loads(line)
            rows.append({"step": int(row["step"]), "record": dict(row["record"])})
        except (ValueError, TypeError, KeyError, RecursionError):
            raise BadInput(f"{path}:{number} is not a row of a story; remove the file") from None
    if not rows:
        raise BadInput(f"{path} is empty; remove the file")
    return rows
