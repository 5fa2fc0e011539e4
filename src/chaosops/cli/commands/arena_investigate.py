"""``chaosops arena investigate``"""

from __future__ import annotations

from chaosops.cli.options import Count, Json, Split, Tier
from chaosops.cli.output import print_result
from chaosops.cli.progress import Progress
from chaosops.evaluation.investigator import investigate
from chaosops.packs import DEFAULT_TIER, make_scenario
from chaosops.packs.arena import PACK

_FAIR = 0.95


def execute(
    *, split: Split = None, tier: Tier = DEFAULT_TIER, seeds: Count = 500, json: Json = False
) -> int:
    split = split or "test"
    guilty, benign = [], []
    with Progress("companies") as progress:
        for seed in range(seeds):
            progress.update(f"{split} {tier}", seed, seeds)
            scenario = make_scenario(pack="arena", split=split, tier=tier, seed=seed)
            rogue, named = PACK.incident(scenario).rogue, investigate(scenario)
            if rogue is None:
                benign.append(named is not None)
            else:
                guilty.append(rogue == named)
    named_rate = _share(guilty)
    figures = {
        "split": split,
        "tier": tier,
        "rogue_episodes": len(guilty),
        "culprit_named": named_rate,
        "benign_episodes": len(benign),
        "innocent_accused": _share(benign),
    }
    print_result(figures, (f"{name:<20}{value}" for name, value in figures.items()), as_json=json)
    return 0 if named_rate is None or named_rate >= _FAIR else 1


def _share(values: list[bool]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None
