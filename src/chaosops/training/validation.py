"""Validation episodes, on companies that are never trained on, and their metrics."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from chaosops.core.episode import Episode
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.cases import JUDGED, matched_wins, suspicions_of
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.metrics import VALIDATED, summarise
from chaosops.evaluation.scoring import area
from chaosops.policies.protocol import Policy
from chaosops.rollout import Team, play_many
from chaosops.rubrics import CompositeRubric
from chaosops.training.recipe import Recipe, read_curriculum
from chaosops.training.seeds import VALIDATION_SEEDS
from chaosops.wire.episodes import figures_to_wire

FIRST_SEED = VALIDATION_SEEDS.start
_CLASSIC_SEEDS = 5  # a failure, as in the published table


def validation_scenarios(recipe: Recipe) -> list[Scenario]:
    """A run of TRL on the classic pack alone is validated there, on seeds that are never trained
    on. Any other run is validated on its split, and on the reserve if the recipe names it."""
    trained = {tier for tier, _ in read_curriculum(recipe.curriculum)}
    tiers = [tier for tier in Tier if tier in trained]
    seeds = recipe.validation_seeds
    if recipe.method == "trl" and recipe.classic_share == 1:
        seeds = min(seeds, _CLASSIC_SEEDS)
        return scenarios("published", tiers=tiers, seeds=seeds, seed_start=FIRST_SEED)
    return [
        scenario
        for split in filter(None, (recipe.split, recipe.reserve))
        for scenario in scenarios(
            pack=recipe.pack, split=split, tiers=tiers, seeds=seeds, seed_start=FIRST_SEED
        )
    ]


def play_all(
    policy: Policy, scenarios: Sequence[Scenario], rubric: CompositeRubric | None = None
) -> list[Episode]:
    return list(play_many(scenarios, Team.of(policy), rubric=rubric, side_by_side=512))


def validation_rows(episodes: Sequence[Episode]) -> dict[str, dict[str, Any]]:
    """Metrics for each tier."""
    return {name: _row(some) for name, some in by_tier(episodes).items()}


def by_tier(episodes: Sequence[Episode]) -> dict[str, list[Episode]]:
    """The episodes of each tier, and of each tier of another split than the first, as ``reserve
    hard``."""
    groups: dict[str, list[Episode]] = {}
    first = episodes[0].scenario.split
    for split in dict.fromkeys(episode.scenario.split for episode in episodes):
        for tier in Tier:
            name = tier.value if split == first else f"{split} {tier.value}"
            groups[name] = [
                episode
                for episode in episodes
                if (episode.scenario.split, episode.scenario.tier) == (split, tier)
            ]
    return {name: some for name, some in groups.items() if some}


def _row(episodes: Sequence[Episode]) -> dict[str, Any]:
    """The AUROC says how well the suspicion separates episodes with a rogue from benign ones."""
    found = summarise([figures_to_wire(episode) for episode in episodes])
    row = {name: found[name] for name in VALIDATED}
    row["rubrics"] = _rubrics(episodes)
    row["auroc_turn_3"] = _auroc(episodes)
    if "unreadable_replies" in found:  # a model wrote freely
        row["unreadable_replies"] = found["unreadable_replies"]
    return row


def _rubrics(episodes: Sequence[Episode]) -> dict[str, float]:
    totals: dict[str, float] = {}
    for episode in episodes:
        for turn in episode.turns:
            for name, points in turn.score.rubrics.items():
                totals[name] = totals.get(name, 0.0) + points / len(episodes)
    return totals


def _auroc(episodes: Sequence[Episode]) -> float | None:
    guilty = np.array([episode.rogue is not None for episode in episodes], dtype=np.bool_)
    return area(matched_wins([suspicions_of(episode) for episode in episodes], guilty, JUDGED))


def actions_digest(episodes: Sequence[Episode]) -> str:
    """Equal digests mean equal actions on every turn."""
    digest = blake2b(digest_size=12)
    for episode in episodes:
        for turn in episode.turns:
            digest.update(f"{turn.decision.action}\n".encode())
    return digest.hexdigest()
