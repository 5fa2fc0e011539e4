"""One company at every validation of a run."""

from __future__ import annotations

from pathlib import Path

from chaosops.core.vocabulary import Tier
from chaosops.evaluation.matrix import scenarios
from chaosops.training.story import (
    STORY,
    play_scripts,
    read_story,
    retell,
    tell_story,
    told_scenario,
)
from chaosops.wire.episodes import from_record


def test_the_same_company_is_told_at_every_update(tmp_path: Path) -> None:
    matrix = [
        scenario
        for split in ("train", "reserve")
        for scenario in scenarios(
            pack="arena", split=split, tiers=[Tier.EASY, Tier.HARD], seeds=6, seed_start=500
        )
    ]
    played = play_scripts(matrix)
    for step, policy in enumerate(played):
        tell_story(tmp_path, 100 * step, played[policy])
    story = read_story(tmp_path / STORY)
    assert [row["step"] for row in story] == [100 * step for step in range(len(played))]
    told = [from_record(row["record"]) for row in story]
    assert [episode.team for episode in told] == list(played)
    (scenario,) = {episode.scenario for episode in told}
    assert (scenario.split, scenario.tier) == ("train", Tier.HARD)
    assert told[0].rogue is not None
    # A run that is resumed after update 100 tells the rest again.
    tell_story(tmp_path, 200, played["oracle"])
    again = read_story(tmp_path / STORY)
    assert [row["step"] for row in again] == [0, 100, 200]
    assert again[:2] == story[:2]
    (oracle,) = [one for one in played["oracle"] if one.scenario == told_scenario(matrix)]
    assert from_record(again[2]["record"]) == oracle


def test_a_story_is_told_afterwards_by_the_adapters_that_are_left(tmp_path: Path) -> None:
    """Scripts stand for the adapters."""
    recipe = 'pack = "arena"\nvalidation_seeds = 6\ncurriculum = "easy:1,hard:1"\n'
    (tmp_path / "recipe.toml").write_text(recipe)
    played = list(retell(tmp_path, {1000: "oracle", 0: "random"}))
    story = read_story(tmp_path / STORY)
    assert [row["step"] for row in story] == [0, 1000]
    told = [from_record(row["record"]) for row in story]
    assert [episode.team for episode in told] == ["random", "oracle"]
    assert told[0].scenario == told[1].scenario
    assert played == [(0, told[0]), (1000, told[1])]
