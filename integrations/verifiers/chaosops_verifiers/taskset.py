"""The episodes, chosen as by ``chaosops eval``: one task for each."""

from __future__ import annotations

from collections.abc import Iterable

import verifiers.v1 as vf
from pydantic import Field

from chaosops import make_scenario
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.matrix import scenarios
from chaosops.packs import load_pack, read_tier


class ChaosOpsTasksetConfig(vf.TasksetConfig):
    pack: str = "arena"
    split: str | None = None
    """A split of the pack (None = the one for training)."""
    tiers: list[str] = [tier.value for tier in Tier]
    seeds: int | None = Field(None, ge=1)
    """Seeds for each tier; in a pack without splits, for each failure and tier."""
    seed_start: int = Field(0, ge=0)


class ChaosOpsData(vf.TaskData):
    """What names an episode. No prompt holds it."""

    pack: str
    split: str | None = None
    failure: str | None = None
    tier: str
    seed: int

    def scenario(self) -> Scenario:
        return make_scenario(
            self.failure, pack=self.pack, split=self.split, tier=self.tier, seed=self.seed
        )


class ChaosOpsTask(vf.Task[ChaosOpsData, vf.State, vf.TaskConfig]):
    pass


class ChaosOpsTaskset(vf.Taskset[ChaosOpsTask, ChaosOpsTasksetConfig]):
    def load(self) -> Iterable[ChaosOpsTask]:
        config = self.config
        named = not load_pack(config.pack).splits
        for scenario in scenarios(
            pack=config.pack,
            split=config.split,
            tiers=[read_tier(tier) for tier in config.tiers],
            seeds=config.seeds,
            seed_start=config.seed_start,
        ):
            data = ChaosOpsData(
                name=f"{scenario.split or scenario.failure} {scenario.tier} {scenario.seed}",
                pack=scenario.pack,
                split=scenario.split or None,
                failure=scenario.failure if named else None,
                tier=scenario.tier.value,
                seed=scenario.seed,
            )
            yield ChaosOpsTask(data, config.task)
