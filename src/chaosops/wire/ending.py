"""The end of an episode in sentences: what happened, and what it cost."""

from __future__ import annotations

from chaosops.core.episode import Episode
from chaosops.packs import load_pack
from chaosops.world.incident import Twin


def explanation(episode: Episode) -> list[str]:
    """The truth, then the damage and what it would have been, or what was measured of it. Empty
    where a pack tells nothing."""
    pack = load_pack(episode.scenario.pack)
    told = pack.explain(episode.scenario)
    twin = pack.twin_of(episode) if told else None
    return [*told, *(pack.measured(episode) if twin is None else twin_sentences(twin))]


def twin_sentences(twin: Twin) -> list[str]:
    """
    >>> for sentence in twin_sentences(Twin(9_400.0, 120.0, 31_000.0, 8_800.0)):
    ...     print(sentence)
    9,400 user requests failed during the episode.
    Had nothing happened, 120 would have failed in the same minutes.
    Without the team, 31,000 would have failed.
    With the right flag one round earlier, 8,800 would have failed.
    >>> print(twin_sentences(Twin(9_400.0, 120.0, 31_000.0, 9_400.0))[-1])
    With the right flag one round earlier, the same would have failed.
    """
    sentences = [
        f"{twin.lost:,.0f} user requests failed during the episode.",
        f"Had nothing happened, {twin.lost_without_cause:,.0f} would have failed in the same "
        "minutes.",
        f"Without the team, {twin.lost_without_team:,.0f} would have failed.",
    ]
    if twin.lost_with_earlier_flag is not None:
        lost = f"{twin.lost_with_earlier_flag:,.0f}"
        if lost == f"{twin.lost:,.0f}":
            lost = "the same"
        sentences.append(f"With the right flag one round earlier, {lost} would have failed.")
    return sentences


def twin_to_wire(twin: Twin) -> dict[str, float]:
    """What is not known is left out."""
    return {name: value for name, value in twin._asdict().items() if value is not None}
