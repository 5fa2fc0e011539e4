"""Policies x scenarios, played and counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.evaluation.results import Results, source_commit
from chaosops.packs import load_pack
from chaosops.rollout import load_team, play_many
from chaosops.version import VERSION


def evaluate(
    policies: Sequence[str],
    scenarios: Sequence[Scenario],
    *,
    command: str = "",
    progress: Callable[[str, int, int], None] = lambda policy, done, total: None,
) -> Results:
    """Play every scenario with every policy, or team of policies (``oversight=a,others=b``).
    All of them are loaded before anything is played."""
    if len(set(policies)) != len(policies):
        raise BadInput(f"each policy can be evaluated once, got {', '.join(policies)}")
    if not policies or not scenarios:
        raise BadInput("an evaluation needs at least one policy and one scenario")
    loaded = {name: load_team(name) for name in policies}
    played: dict[str, list[Episode]] = {}
    for name, team in loaded.items():
        episodes: list[Episode] = []
        for episode in play_many(scenarios, team):
            episodes.append(episode)
            progress(name, len(episodes), len(scenarios))
        played[name] = episodes
    statuses = {name: team.status() for name, team in loaded.items()}
    return Results(_manifest(scenarios, statuses, command), played)


def _manifest(
    scenarios: Sequence[Scenario], statuses: dict[str, dict[str, Any]], command: str
) -> dict[str, Any]:
    packs = sorted({scenario.pack for scenario in scenarios})
    return {
        "command": command,
        "version": VERSION,
        "commit": source_commit(),
        "packs": {
            name: {"version": load_pack(name).version, "hash": load_pack(name).content_hash()}
            for name in packs
        },
        "splits": sorted({scenario.split for scenario in scenarios if scenario.split}),
        "tiers": sorted({scenario.tier.value for scenario in scenarios}),
        "seeds": sorted({scenario.seed for scenario in scenarios}),
        "episodes_per_policy": len(scenarios),
        "policies": statuses,
    }
