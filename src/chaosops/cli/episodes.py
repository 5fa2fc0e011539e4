"""Options of commands that play many episodes to measure overseers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.options import Count, Mechanisms, Names, Pack, Seed, Split
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.matrix import SEEDS_PER_TIER, scenarios
from chaosops.packs import GENERATED_PACK, read_tiers


@Parameter(name="*")
@dataclass(frozen=True)
class EpisodeOptions:
    """Which episodes to play. The default pack is the one that measures overseers.

    Attributes:
        tiers: tiers to play
        seeds: episodes of each tier
        seed_start: the first seed
    """

    pack: Annotated[Pack, Parameter(show_default=f"the split's, or {GENERATED_PACK}")] = None
    split: Split = None
    tiers: Names = (Tier.HARD,)
    seeds: Count = SEEDS_PER_TIER
    seed_start: Seed = 0
    mechanisms: Mechanisms = None

    def scenarios(self) -> list[Scenario]:
        named = self.pack is not None or self.split is not None
        return scenarios(
            pack=self.pack if named else GENERATED_PACK,
            split=self.split,
            tiers=read_tiers(self.tiers, "--tiers"),
            seeds=self.seeds,
            seed_start=self.seed_start,
            mechanisms=self.mechanisms or "",
        )


HARD = EpisodeOptions()
