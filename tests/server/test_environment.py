"""The environment in this process: options, turns, what is told and when."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from chaosops import Team, load_policy, make_scenario, play
from chaosops.core.actions import to_wire
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.server.environment import ChaosOpsEnvironment
from chaosops.server.options import MAX_STEPS, chosen_scenario, read_options
from chaosops.wire.openenv import ChaosOpsAction
from chaosops.wire.views import view_to_wire

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tire": "hard"}, "unknown reset option 'tire'; did you mean 'tier'"),
        ({"tier": "brutal"}, "unknown tier 'brutal'"),
        ({"tier": 3}, "reset option tier: Input should be a valid string"),
        ({"pack": "arenas"}, "unknown pack"),
        ({"scenario": "db_deadlok"}, "did you mean 'db_deadlock'"),
        ({"pack": "arena", "scenario": "cascade"}, "has splits instead of failures"),
        ({"pack": "classic", "split": "test"}, "has no splits"),
        ({"split": "tset"}, "did you mean 'test'"),
        ({"seed": -1}, "seed: Input should be greater than or equal to 0"),
        ({"seed": True}, "seed: Input should be a valid integer"),
        ({"seed": 2**63}, "less than"),
        ({"max_steps": 0}, "greater than or equal to 1"),
        ({"max_steps": MAX_STEPS + 1}, f"less than or equal to {MAX_STEPS}"),
        ({"format": "xml"}, "unknown format 'xml'"),
        ({"include": ["truth"]}, "include.0: Input should be 'view'"),
        ({"episode_id": "x" * 300}, "at most 255"),
        ({"self": 1}, "unknown reset option 'self'"),
        ({"split": "test", "index": 3, "seed": 1}, "index replaces"),
        ({"split": "test", "index": 300_000}, "tasks 0 to 299999"),
        ({"split": "tset", "index": 3}, "did you mean 'test'"),
    ],
)
def test_options_that_cannot_be_met_say_why_and_change_nothing(
    options: dict[str, Any], said: str
) -> None:
    env = ChaosOpsEnvironment()
    env.reset(seed=1, episode_id="kept")
    env.step(ChaosOpsAction(action="noop"))
    with pytest.raises(ChaosOpsError, match=said):
        env.reset(**options)
    assert (env.state.episode_id, env.state.step_count) == ("kept", 1)


@pytest.mark.parametrize(
    ("options", "scenario"),
    [
        (
            {"pack": "arena", "split": "test", "tier": "medium", "seed": 4},
            make_scenario(pack="arena", split="test", tier="medium", seed=4),
        ),
        ({"split": "ood_scale", "seed": 1}, {"pack": "arena", "split": "ood_scale", "limit": 32}),
        ({"pack": "arena", "seed": 1}, {"split": "train"}),
        ({"scenario": "cascade", "seed": 7}, make_scenario("cascade", tier="hard", seed=7)),
        ({"seed": 7, "max_steps": 9}, {"pack": "classic", "seed": 7, "limit": 9}),
        ({"split": "train", "index": 4}, {"tier": "medium", "seed": 1, "pack": "arena"}),
        ({"split": "classic", "index": 5}, {"tier": "hard", "seed": 1, "pack": "classic"}),
    ],
)
def test_any_pack_tier_split_and_seed_can_be_asked_for(
    options: dict[str, Any], scenario: Any
) -> None:
    chosen = chosen_scenario(read_options(options))
    if isinstance(scenario, dict):
        assert {name: getattr(chosen, name) for name in scenario} == scenario
    else:
        assert chosen == scenario


def test_a_seed_draws_a_failure_and_no_seed_draws_a_seed() -> None:
    drawn = [chosen_scenario(read_options({"seed": seed})).failure for seed in range(200)]
    assert len(set(drawn)) == 9
    assert drawn == [chosen_scenario(read_options({"seed": seed})).failure for seed in range(200)]
    assert len({chosen_scenario(read_options({})).seed for _ in range(5)}) == 5


@pytest.mark.parametrize("pack", ["classic", "arena"])
def test_an_episode_is_the_one_that_is_played_without_a_server(pack: str) -> None:
    env = ChaosOpsEnvironment()
    seen = env.reset(pack=pack, seed=11, tier="hard")
    episode = play(env.episode.env.scenario, Team.of(load_policy("random")))
    assert (seen.role, seen.step, seen.reward, seen.done) == ("sre", 0, None, False)
    assert seen.rules is not None
    assert seen.debrief is None
    for number, turn in enumerate(episode.turns, 1):
        assert env.episode.seen()["view"] == view_to_wire(env.episode.env.view)
        seen = env.step(ChaosOpsAction(**to_wire(turn.decision.action)))
        assert seen.step == env.state.step_count == number
        assert seen.reward == turn.score.total
        assert seen.rules is None
        assert seen.last_turn is not None
        assert seen.last_turn.role == turn.role
        assert seen.last_turn.rubrics == dict(turn.score.rubrics)
        assert sum(seen.last_turn.rubrics.values()) == pytest.approx(seen.reward)
    assert seen.done
    assert (seen.role, seen.view, seen.messages) == (None, None, [])
    assert seen.debrief is not None
    assert seen.debrief.failure == episode.cause
    assert seen.debrief.rogue == episode.rogue
    assert seen.debrief.reward == pytest.approx(episode.reward) == env.state.reward
    with pytest.raises(BadInput, match="the episode is over: reset starts another"):
        env.step(ChaosOpsAction(action="noop"))
    assert env.reset(seed=1).step == 0


def test_what_is_served_is_what_the_schema_promises() -> None:
    """The fast way skips the checks; so here they are made."""
    env, fast = ChaosOpsEnvironment(), ChaosOpsEnvironment()
    for seed in range(4):
        options = {"pack": ("classic", "arena")[seed % 2], "seed": seed, "episode_id": "one"}
        slow, quick = env.reset(**options), asyncio.run(fast.reset_async(**options))
        while not slow.done:
            assert quick.checked() == slow
            served = json.loads(json.dumps(quick.model_dump()))
            assert served == slow.model_dump(mode="json", include=served.keys(), exclude_unset=True)
            action = ChaosOpsAction(action="communicate", message="on it", to="dev")
            slow, quick = env.step(action), asyncio.run(fast.step_async(action))


def test_an_unreadable_action_is_refused_an_unreadable_reply_is_scored() -> None:
    env = ChaosOpsEnvironment()
    env.reset(seed=1)
    with pytest.raises(BadInput, match="missing_field: restart needs target"):
        env.step(ChaosOpsAction(action="restart"))
    with pytest.raises(BadInput, match="unknown_field"):
        env.step(ChaosOpsAction(action="noop", target="db"))
    assert env.state.step_count == 0
    seen = env.step(ChaosOpsAction(reply="restart db, I think"))
    assert seen.last_turn is not None
    assert seen.last_turn.components["resolution"] == {"miscommunication": -20.0}
    assert "not_json" in str(seen.last_turn.miscommunication)
    assert env.state.step_count == 1


def test_what_is_not_asked_for_is_left_out() -> None:
    whole, part = ChaosOpsEnvironment(), ChaosOpsEnvironment()
    for include in (["messages"], ["view"], ["action_schema"], []):
        everything = whole.reset(pack="arena", seed=3)
        seen = part.reset(pack="arena", seed=3, include=include)
        for _ in range(4):
            for name in ("view", "messages", "action_schema"):
                told = getattr(seen, name)
                assert told == getattr(everything, name) if name in include else not told
            action = ChaosOpsAction(action="communicate", message="here")
            everything, seen = whole.step(action), part.step(action)


def test_a_menu_is_answered_with_its_letter() -> None:
    env = ChaosOpsEnvironment()
    seen = env.reset(pack="arena", seed=1, format="menu")
    assert "Reply with the letter" in seen.messages[0].content
    seen = env.step(ChaosOpsAction(reply="A"))
    assert seen.last_turn is not None
    assert seen.last_turn.action == {"action": "noop"}


def test_no_step_leaves_the_declared_reward_range() -> None:
    declared = yaml.safe_load((ROOT / "openenv.yaml").read_text(encoding="utf-8"))
    low, high = declared["validation"]["reward"]["range"]
    # The dearest step of a client with one role: the last four turns, each with a fix that breaks
    # something else.
    turns = range(MAX_STEPS - 3, MAX_STEPS + 1)
    assert low == -2 * sum(turns) - 60 - 4 * (50 + 40)
    assert high == 100 + 10 + 50 + 30
    rewards = []
    for seed in range(12):
        options = {"pack": ("classic", "arena")[seed % 2], "seed": seed, "max_steps": MAX_STEPS}
        scenario = chosen_scenario(read_options(options))
        episode = play(scenario, Team.of(load_policy("random")))
        rewards += [turn.score.total for turn in episode.turns]
    assert low <= min(rewards) < max(rewards) <= high


def test_tasks_are_what_reset_takes() -> None:
    env = ChaosOpsEnvironment()
    names = [split["name"] for split in env.list_splits()]
    assert names[:3] == ["classic", "train", "test"]
    for split in names:
        assert env.num_tasks(split) == 300_000
        task = env.get_task(split, 17)
        seen = env.reset(**task)
        assert seen.view == env.reset(split=split, index=17).view
        assert env.get_task_range(split, 16, 19)[1] == task
        assert len(env.list_tasks(split)) == 100
    with pytest.raises(BadInput, match="at most 1000"):
        env.get_task_range("test", 0, None)


def test_a_mistake_of_ours_is_logged_and_not_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    env = ChaosOpsEnvironment()
    env.reset(seed=1)
    monkeypatch.setattr("chaosops.server.environment.scored_turn", lambda turn: 1 / 0)
    with pytest.raises(ChaosOpsError, match="the server made a mistake; its log has the details"):
        env.step(ChaosOpsAction(action="noop"))
    assert "ZeroDivisionError" in caplog.text
