from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from chaosops.cli import main
from chaosops.core.dice import Dice
from chaosops.core.errors import BadInput
from chaosops.training.credited_turns import credited_turns, scenario_of, turn_envs
from chaosops.training.own_play import digest_of, played_at, require_played
from chaosops.training.recipe import Recipe

RECIPE = Recipe(classic_share=0.0, role_shares="sre:1,oversight:1,dev:1,manager:1")


def evaluated(out: Path, *, split: str = "train", tier: str = "hard", seed: int = 700) -> Path:
    where = ["--pack", "arena", "--split", split, "--tiers", tier, "--seed-start", str(seed)]
    main(
        ["eval", *where, "--seeds", "3", "--policies", "random", "--no-figures", "--out", str(out)]
    )
    return out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two evaluations, each tier on seeds of its own."""
    at = tmp_path_factory.mktemp("own")
    evaluated(at / "hard")
    evaluated(at / "medium", tier="medium", seed=800)
    return at


@pytest.fixture
def recipe(folder: Path) -> Recipe:
    return replace(RECIPE, played=str(folder))


def test_every_second_episode_goes_as_it_was_played(recipe: Recipe) -> None:
    found = [scenario_of(recipe, index, 0.0) for index in range(14)]
    assert [s.seed for s in found[::2]] == [700, 800, 701, 801, 702, 802, 700]
    assert [s.tier.value for s in found[:12:2]] == ["hard", "medium"] * 3
    without = replace(recipe, played="")
    assert found[1::2] == [scenario_of(without, index, 0.0) for index in range(1, 14, 2)]
    assert played_at(recipe, -2) is None  # a probe, which is the same in every run


def test_the_world_at_each_turn_is_the_one_that_was_played(recipe: Recipe, folder: Path) -> None:
    lines = (folder / "hard" / "episodes.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    turns = json.loads(lines[0])["turns"]
    seen = [(env.world.public.step, env.role.value) for env in turn_envs(recipe, 0, 0.0, Dice(1))]
    told = [(turn["step"], turn["role"]) for turn in turns]
    assert seen == [(step - 1, role) for step, role in told[: len(seen)]]
    assert len(seen) == min(len(told), 24)
    *_, last = islice(turn_envs(recipe, 0, 0.0, Dice(1)), 12)
    said = [message.action.verb for message in last.view.chat]
    assert said
    assert set(said) <= {turn["action"] for turn in turns[:11]}


def test_its_turns_are_credited_like_others(recipe: Recipe) -> None:
    turns = credited_turns(recipe, 0)
    assert turns
    assert turns == credited_turns(recipe, 0)
    assert all(len(set(turn.returns.values())) > 1 for turn in turns)


def test_other_episodes_are_other_turns(folder: Path, tmp_path: Path) -> None:
    other = evaluated(tmp_path / "other", seed=900)
    assert digest_of(str(folder)) == digest_of(str(folder)) != digest_of(str(other))


def test_what_must_not_be_trained_on_is_refused(tmp_path: Path) -> None:
    for name, split, seed in (("a", "test", 700), ("b", "train", 2_000_000)):
        out = evaluated(tmp_path / name, split=split, seed=seed)
        with pytest.raises(BadInput, match=rf"holds seed {seed} of split {split}.*must not"):
            require_played(replace(RECIPE, played=str(out)))
    with pytest.raises(BadInput, match=r"no episodes\.jsonl there"):
        require_played(replace(RECIPE, played=str(tmp_path / "nothing")))


def test_what_was_played_in_another_world_is_refused(tmp_path: Path) -> None:
    out = evaluated(tmp_path / "old")
    journal = out / "episodes.jsonl"
    head, *lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    header = json.loads(head)
    header["job"]["packs"]["arena"]["hash"] = "0" * 16
    journal.write_text(json.dumps(header) + "\n" + "".join(lines), encoding="utf-8")
    with pytest.raises(BadInput, match="was not played in today's pack arena; play it again"):
        require_played(replace(RECIPE, played=str(out)))
