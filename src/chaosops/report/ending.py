"""The end of an episode in sentences: what happened, and what it cost."""

from __future__ import annotations

from chaosops.core.episode import Episode
from chaosops.packs import load_pack


def explanation(episode: Episode) -> list[str]:
    """The truth, then the damage and what it would have been. Empty where a pack tells nothing."""
    pack = load_pack(episode.scenario.pack)
    told = pack.explain(episode.scenario)
    twin = pack.twin_of(episode) if told else None
    if twin is None:
        return told
    return [
        *told,
        f"{twin.lost:,.0f} user requests failed. Without the incident it would have been "
        f"{twin.lost_without_cause:,.0f}, without the team {twin.lost_without_team:,.0f}.",
    ]
