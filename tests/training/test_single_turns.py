from __future__ import annotations

import json
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.actions import to_wire
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.llm.spec import read_spec
from chaosops.rollout import Team, load_team, play
from chaosops.rubrics import standard
from chaosops.training.credited_turns import scenario_of
from chaosops.training.recipe import Recipe
from chaosops.training.recipe_files import find_recipe, load_recipe, shipped_recipes
from chaosops.training.single_turns import Prompt, TurnKey, judge, probes_of, prompts_of
from chaosops.training.trl_rewards import rewards_of

EVERY_TURN = "sre:1,oversight:1,dev:1,manager:1"
FLAT = Recipe(
    method="trl",
    steps=20,
    prompts_per_step=8,
    continuation="none",
    prefixes="oracle",
    classic_share=0.4,
    role_shares=EVERY_TURN,
    window=8,
)
PUBLISHED = [find_recipe(name) for name in shipped_recipes() if name.startswith("published/")]


def test_prompts_are_a_function_of_the_recipe_and_fill_every_step() -> None:
    prompts = prompts_of(FLAT)
    assert prompts == prompts_of(FLAT)
    assert len(prompts) == 20 * 8
    assert {prompt.role for prompt in prompts} == set(Role)
    assert prompts != prompts_of(replace(FLAT, seed=1))
    probes = probes_of(FLAT, 20)
    assert len(probes) == 20
    assert all(probe.key.episode < 0 for probe in probes)


def test_tiers_come_in_the_order_of_the_curriculum() -> None:
    recipe = replace(FLAT, curriculum="hard:1,easy:2,medium:1", shuffle_tiers=False)
    stages = [(tier, len(list(some))) for tier, some in groupby(p.tier for p in prompts_of(recipe))]
    assert stages == [("hard", 40), ("easy", 80), ("medium", 40)]
    mixed = prompts_of(replace(recipe, shuffle_tiers=True))
    assert len(list(groupby(p.tier for p in mixed))) > 20


def test_turns_of_a_window_are_shuffled() -> None:
    keys = [prompt.key for prompt in prompts_of(FLAT)]
    assert [key.episode for key in keys] != sorted(key.episode for key in keys)
    windows = [key.episode // FLAT.window for key in keys]
    assert windows == sorted(windows)


def test_a_run_may_end_after_so_many_episodes() -> None:
    prompts = prompts_of(replace(FLAT, episodes=10))
    assert {prompt.key.episode for prompt in prompts} == set(range(10))
    assert max(prompt.key.progress for prompt in prompts) == 0.9
    with pytest.raises(BadInput, match="raise episodes, or lower prompts_per_step"):
        prompts_of(replace(FLAT, episodes=1, prompts_per_step=100))
    with pytest.raises(BadInput, match="leave no turn to learn from"):
        prompts_of(replace(FLAT, role_shares="sre:0,oversight:0,dev:0,manager:0"))


def oracle_steps(recipe: Recipe, key: TurnKey) -> Env:
    """The world at a turn, found another way: by playing the oracle's whole episode again."""
    scenario = scenario_of(recipe, key.episode, key.progress)
    env = Env(scenario, standard())
    episode = play(scenario, load_team("oracle"))
    for turn in episode.turns[: key.turn]:
        env.play(turn.decision)
    return env


@pytest.mark.parametrize(
    "reply", ['{"action":"noop"}', '{"action":"flag_rogue","target":"autoscaler"}', "well, hm"]
)
def test_a_reply_earns_what_the_world_pays_for_its_step(reply: str) -> None:
    for prompt in prompts_of(FLAT)[:40]:
        env = oracle_steps(FLAT, prompt.key)
        assert env.role is prompt.role
        found = judge(FLAT, prompt.key, reply)
        step = env.step(reply)
        assert found.rubrics == step.info["rubrics"]
        assert sum(found.rubrics.values()) == step.reward


def test_an_unreadable_reply_is_a_miscommunication() -> None:
    for prompt in prompts_of(FLAT)[:20]:
        silent = judge(FLAT, prompt.key, '{"action":"noop"}')
        unread = judge(FLAT, prompt.key, "I would restart the database.")
        assert unread.action.verb == "unreadable"
        assert unread.rubrics["resolution"] == silent.rubrics["resolution"] - 20
        assert unread.rubrics["mttr"] == silent.rubrics["mttr"]


def test_with_finish_oracle_a_reply_earns_the_rest_of_the_episode() -> None:
    recipe = replace(FLAT, continuation="oracle")
    team: Team = load_team("oracle")
    for prompt in prompts_of(recipe)[:30]:
        if prompt.key.turn:
            continue
        scenario = scenario_of(recipe, prompt.key.episode, prompt.key.progress)
        best = play(scenario, team)
        cause = best.turns[0].decision.action
        found = judge(recipe, prompt.key, json.dumps(to_wire(cause)))
        assert found.action == cause
        assert sum(found.rubrics.values()) == best.reward


def test_flags_count_more_at_the_start_of_a_run_whose_multiplier_falls() -> None:
    recipe = replace(FLAT, rogue_bonus_multiplier="3.0->1.0", curriculum="easy:1")
    prompts = [p for p in prompts_of(recipe) if p.role is Role.OVERSIGHT]
    costs = [false_flag(recipe, prompt) for prompt in (prompts[0], prompts[-1])]
    first, last = (prompt.key.progress for prompt in (prompts[0], prompts[-1]))
    assert costs == pytest.approx([-75 * (3 - 2 * first), -75 * (3 - 2 * last)])
    assert costs[0] < costs[1]


def false_flag(recipe: Recipe, prompt: Prompt) -> float:
    reply = '{"action":"flag_rogue","target":"nobody"}'
    return judge(recipe, prompt.key, reply).rubrics["oversight"]


def test_reward_functions_add_up_to_the_world_and_tell_roles_apart() -> None:
    prompts = prompts_of(FLAT)[:12]
    columns: dict[str, Any] = {
        "episode": [p.key.episode for p in prompts],
        "turn": [p.key.turn for p in prompts],
        "progress": [p.key.progress for p in prompts],
    }
    replies = ['{"action":"noop"}', "?"] * 6
    completions = [[{"role": "assistant", "content": reply}] for reply in replies]
    found = {
        reward.__name__: (reward.weight, reward(completions, **columns, trainer_state=None))
        for reward in rewards_of(FLAT)
    }
    totals = [
        sum(judge(FLAT, p.key, reply).rubrics.values())
        for p, reply in zip(prompts, replies, strict=True)
    ]
    added = [
        sum(weight * (values[i] or 0.0) for weight, values in found.values()) for i in range(12)
    ]
    assert added == totals
    assert found["readable"] == (0.0, [1.0, 0.0] * 6)
    for role in Role:
        weight, values = found[f"role_{role}"]
        wanted = [t if p.role is role else None for t, p in zip(totals, prompts, strict=True)]
        assert (weight, values) == (0.0, wanted)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"method": "trl", "continuation": "lookahead"}, "method 'trl' knows none, oracle"),
        ({"method": "trl", "temperature": 2.0}, "temperature has no effect with method = 'trl'"),
        ({"prompts_per_step": 3}, "choose method = 'trl'"),
        ({"method": "trl", "reply_format": "xml"}, "unknown reply_format 'xml'"),
        ({"method": "trl", "prompts_per_step": 0}, "prompts_per_step must be from 1"),
        ({"method": "trl", "sampling_temperature": 0.0}, "sampling_temperature must be above 0"),
        ({"method": "ppo"}, "unknown method 'ppo'"),
    ],
)
def test_what_a_method_cannot_do_is_said(values: dict[str, object], words: str) -> None:
    with pytest.raises(ChaosOpsError, match=words):
        Recipe(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", shipped_recipes())
def test_every_recipe_that_ships_can_be_read(name: str, tmp_path: Path) -> None:
    path = find_recipe(name)
    recipe = load_recipe(path)
    assert recipe.name == path.stem
    assert read_spec(recipe.base).kind in ("local", "hf")
    copy = tmp_path / path.name
    copy.write_text(recipe.to_toml(), encoding="utf-8")
    assert load_recipe(copy) == recipe
    if recipe.method == "trl":
        short = replace(recipe, steps=2)
        assert len(prompts_of(short)) == 2 * recipe.prompts_per_step


def test_the_published_runs_differ_in_what_they_were_to_compare() -> None:
    compared = {
        "base",
        "learning_rate",
        "lora_rank",
        "lora_alpha",
        "curriculum",
        "shuffle_tiers",
        "rogue_bonus_multiplier",
    }
    runs = [asdict(load_recipe(path)) for path in PUBLISHED]
    assert len(runs) == 6
    first, *others = runs
    differences = [
        {name: value for name, value in run.items() if value != first[name] and name != "name"}
        for run in others
    ]
    assert all(found and set(found) <= compared for found in differences)
    assert len({str(found) for found in differences}) == 5
    assert all(run["lora_alpha"] == 2 * run["lora_rank"] for run in runs)
