from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosops.core.actions import Noop
from chaosops.core.dice import Dice
from chaosops.core.errors import BadInput, ChaosOpsError, UnknownName
from chaosops.core.events import Events
from chaosops.packs import load_pack
from chaosops.policies.belief import Thresholds
from chaosops.roles.menu import menu
from chaosops.trained import TRAINING
from chaosops.training.credited_turns import counterfactual_returns, scenario_of, turn_envs
from chaosops.training.recipe import Recipe, read_curriculum, rubric_at, validated_rubric
from chaosops.training.recipe_files import find_recipe, load_recipe, shipped_recipes
from chaosops.training.seeds import PROBE_EPISODES, VALIDATION_SEEDS
from chaosops.training.validation import validation_scenarios

NUMBERS = [
    field
    for field in fields(Recipe)
    if isinstance(field.default, int | float) and not isinstance(field.default, bool)
]


def test_a_recipe_survives_being_saved(tmp_path: Path) -> None:
    recipe = Recipe(name="x", learning_rate=2e-5, rogue_bonus_multiplier="2.0->1.0", steps=7)
    path = tmp_path / "x.toml"
    path.write_text(recipe.to_toml(), encoding="utf-8")
    assert load_recipe(path) == recipe


def test_every_value_can_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("learning_rate = 1e-5\nlora_rank = 32\n", encoding="utf-8")
    given = {"learning_rate": "3e-4", "curriculum": "hard:2", "entropy": "1", "base": "hf:a/b"}
    recipe = load_recipe(path, given)
    assert (recipe.name, recipe.lora_rank, recipe.learning_rate) == ("mine", 32, 3e-4)
    assert (recipe.curriculum, recipe.entropy, recipe.base) == ("hard:2", 1.0, "hf:a/b")


def test_rewards_are_a_section_and_survive_being_saved(tmp_path: Path) -> None:
    path = tmp_path / "strict.toml"
    path.write_text("steps = 3\n[rewards]\nmttr = 0.5\nfalse_flag = -150\n", encoding="utf-8")
    recipe = load_recipe(path)
    assert recipe.rewards == "mttr=0.5,false_flag=-150"
    again = tmp_path / "again.toml"
    again.write_text(recipe.to_toml(), encoding="utf-8")
    assert load_recipe(again) == recipe
    assert load_recipe(path, {"rewards": "mttr=2"}).rewards == "mttr=2"


def test_returns_and_validation_follow_the_rewards() -> None:
    events = Events(step=4, false_flag=True)
    recipe = Recipe(rewards="false_flag=-100,mttr=0", rogue_bonus_multiplier="3.0->1.0")
    scores = [rubric_at(recipe, progress).score(events).total for progress in (0, 1)]
    assert [*scores, validated_rubric(recipe).score(events).total] == [-300, -100, -100]
    env = next(turn_envs(recipe, 0, 0.0, Dice(7)))
    choices = menu(env.view)
    free = counterfactual_returns(env, choices, None)
    paid = counterfactual_returns(next(turn_envs(Recipe(), 0, 0.0, Dice(7))), choices, None)
    idle = next(label for label, action in choices.items() if isinstance(action, Noop))
    assert (free[idle], paid[idle]) == (0, -2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lerning_rate = 1.0", "did you mean 'learning_rate'"),
        ("steps = 'many'", "must be a whole number"),
        ("steps = 0", "steps must be from 1 to"),
        ("steps = ", "is not TOML"),
        ("split = 'test'", "test"),
        ("continuation = 'nobody'", "unknown continuation 'nobody'"),
        ("curriculum = 'easy:much'", "write tiers and sizes"),
        ("rogue_bonus_multiplier = '2->'", "write 1.5, or 2.0->1.0"),
        ("[rewards]\nfals_flag = -1", "unknown reward 'fals_flag'; did you mean 'false_flag'"),
        ("[rewards]\nfalse_flag = 'much'", "reward false_flag must be a number, got 'much'"),
        ("rewards = 'false_flag'", "write NAME=NUMBER"),
        ("rewards = 3", "rewards '3': write NAME=NUMBER"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ChaosOpsError, match=words):
        load_recipe(path)


@pytest.mark.parametrize("field", NUMBERS, ids=lambda field: field.name)
def test_every_number_has_a_range_that_is_kept(field: Any) -> None:
    allowed = field.metadata["range"]
    assert allowed.holds(field.default)
    step = 1 if isinstance(field.default, int) else 1e-9 + abs(allowed.most) * 1e-9
    outside = [allowed.least - step, allowed.most + step, math.nan, math.inf, -math.inf]
    if allowed.open_below:
        outside.append(allowed.least)
    for value in outside:
        with pytest.raises(BadInput, match=f"^{field.name} must be"):
            Recipe(**cast("Any", {field.name: value}))


def test_a_number_without_a_range_cannot_be_added() -> None:
    @dataclass(frozen=True)
    class Longer(Recipe):
        patience: int = 3

    with pytest.raises(TypeError, match="patience is a number without a range"):
        Longer()


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_any_text_that_is_taken_can_be_read_again(text: str) -> None:
    for values in ({"name": text}, {"base": text}, {"track": text}):
        try:
            recipe = Recipe(**values)  # type: ignore[arg-type]
        except BadInput:
            continue
        assert Recipe(**tomllib.loads(recipe.to_toml())) == recipe


@pytest.mark.parametrize("name", ['a "quoted" one', "naïve 🙂 'x'"])
def test_a_name_with_quotes_is_written_so_that_it_can_be_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "saved.toml"
    path.write_text(Recipe(name=name).to_toml(), encoding="utf-8")
    assert load_recipe(path).name == name


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"first_seed": 0}, "first_seed must be from 12 to"),
        ({"first_seed": VALIDATION_SEEDS.start}, "would train on the validation seeds"),
        ({"first_seed": VALIDATION_SEEDS.start + 7}, "would train on the validation seeds"),
        ({"first_seed": VALIDATION_SEEDS.start - 300}, "would train on the validation seeds"),
        ({"first_seed": VALIDATION_SEEDS.stop}, "would train on the validation seeds"),  # probes
        ({"steps": 10_000}, "would train on the validation seeds"),
        ({"method": "trl", "first_seed": VALIDATION_SEEDS.start}, "would train on the validation"),
        (
            {"method": "trl", "first_seed": VALIDATION_SEEDS.start - 9, "episodes": 10},
            "would train on the validation seeds",
        ),
        ({"reserve": "test"}, "reserve 'test' is not kept for validation; allowed: reserve"),
        ({"patience": 2, "validate_every": 0}, "patience needs validation"),
        ({"method": "trl", "flag_now": True}, "flag_now has no effect with method = 'trl'"),
        ({"name": "../../etc"}, "can name a folder"),
        ({"name": "two\nlines"}, "cannot be printed"),
        ({"base": "a\x1b[2Jb"}, "cannot be printed"),
        ({"role_shares": "sre:nan,oversight:1,dev:1,manager:1"}, "role_shares"),
        ({"curriculum": "easy:1e308,hard:1e308"}, "write tiers and sizes"),
    ],
)
def test_values_that_do_not_go_together_are_refused(values: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        Recipe(**values)


def test_a_run_that_ends_before_the_validation_slice_is_allowed() -> None:
    close = Recipe(first_seed=VALIDATION_SEEDS.start - 512, window=256, episodes=256)
    assert close.most_episodes == 512
    Recipe(first_seed=VALIDATION_SEEDS.stop - PROBE_EPISODES.start)
    Recipe(steps=10_000, episodes=1_000_000)


def test_no_episode_of_a_stream_is_validated_on() -> None:
    """Where the length of a run is not known before, the episode itself is refused."""
    recipe = Recipe(method="trl", first_seed=VALIDATION_SEEDS.start - 5, validation_seeds=3)
    validated = {(s.pack, s.split, s.seed) for s in validation_scenarios(recipe)}
    trained = [scenario_of(recipe, index, 0.0) for index in range(5)]
    assert not validated & {(s.pack, s.split, s.seed) for s in trained}
    with pytest.raises(BadInput, match="episode 5 of the run would train on the validation"):
        scenario_of(recipe, 5, 0.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "true"}, ("name", "true")),
        ({"name": "2.50"}, ("name", "2.50")),
        ({"track": '"quoted"'}, ("track", "quoted")),
        ({"rogue_bonus_multiplier": "2.0"}, ("rogue_bonus_multiplier", "2.0")),
    ],
)
def test_text_on_the_command_line_stays_as_it_was_written(
    tmp_path: Path, given: dict[str, str], words: tuple[str, str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("", encoding="utf-8")
    assert getattr(load_recipe(path, given), words[0]) == words[1]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"steps = " + b"9" * 5000, "is not TOML"),
        (b"steps = " + b"[" * 50_000, "is not TOML"),
        (b"learning_rate = " + b"9" * 400, "learning_rate must be"),
        (b"name = true", "name in .* must be a text"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_file_of_any_kind_is_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=words) as told:
        load_recipe(path)
    assert len(str(told.value).splitlines()) == 1


@pytest.mark.parametrize("path", ["/dev/zero", "/", "/dev/null/none"])
def test_what_is_no_file_is_not_read(path: str) -> None:
    with pytest.raises(BadInput, match="cannot read recipe"):
        load_recipe(Path(path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ChaosOpsError, match="cannot read recipe"):
        load_recipe(tmp_path / "none.toml")


def test_stages_keep_their_order() -> None:
    assert [tier.value for tier, _ in read_curriculum("hard:1,medium:1,easy:1")] == [
        "hard",
        "medium",
        "easy",
    ]


def test_a_recipe_that_ships_has_a_name_and_a_description() -> None:
    names = shipped_recipes()
    assert {"smoke", "reading_first", "reading_third", "published/phase_0"} <= set(names)
    assert all(20 < len(text) < 100 for text in names.values()), names


def test_a_recipe_is_found_by_name_or_path(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    assert find_recipe(str(mine)) == mine
    assert load_recipe(find_recipe("smoke")).name == "smoke"
    with pytest.raises(UnknownName, match=r"allowed: .*reading_first"):
        find_recipe("nothing like it")


# Where a run was started, and how its overseer decides. Neither changes what it learns from.
_OF_THE_RUN = ("seed", "start", "played", "flag_at", "audit_at")


READING = ["reading_first", "reading_second", "reading_third", "reading_fourth"]


@pytest.mark.parametrize("name", READING)
def test_the_record_of_the_shipped_adapter_is_its_recipe(name: str) -> None:
    record = load_recipe(TRAINING / name / "recipe.toml")
    shipped = load_recipe(find_recipe(name))
    same = {field: getattr(shipped, field) for field in _OF_THE_RUN}
    assert replace(record, **same) == shipped


@pytest.mark.parametrize("name", READING)
def test_the_recipes_of_the_second_version_stop_by_its_reserve(name: str) -> None:
    recipe = load_recipe(find_recipe(name))
    assert recipe.packs == {"arena": "2", "classic": "1"}
    assert recipe.patience > 0
    splits = [scenario.split for scenario in validation_scenarios(recipe)]
    assert {split: splits.count(split) for split in splits} == {
        recipe.split: 3 * recipe.validation_seeds,
        "reserve": 3 * recipe.validation_seeds,
    }
    assert bool(recipe.start) == (name != "reading_first")
    # A wrong flag costs 75 points and a right one pays 50: below 0.6 a flag loses.
    assert recipe.thresholds == Thresholds(
        0.6, 0.1, 0.9 if name in ("reading_third", "reading_fourth") else 0.0
    )


def test_thresholds_come_together() -> None:
    assert Recipe().thresholds is None
    with pytest.raises(BadInput, match="sure_at needs flag_at"):
        Recipe(sure_at=0.9)
    with pytest.raises(BadInput, match="flag_at and audit_at belong together"):
        Recipe(flag_at=0.6)


def test_a_recipe_trains_on_the_second_version_by_default() -> None:
    assert Recipe().packs == {"arena": "2", "classic": "1"}
    assert Recipe(classic_share=1.0).packs == {"classic": "1"}
    with pytest.raises(BadInput, match="pack classic has no splits to train on"):
        Recipe(pack="classic")


def test_a_pack_may_have_no_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(load_pack("arena")), "reserve_split", "")
    with pytest.raises(BadInput, match="allowed: none with this pack"):
        Recipe(reserve="reserve")
