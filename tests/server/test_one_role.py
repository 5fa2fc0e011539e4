"""``reset(role=…, partners=…)``: a client plays one role, and the server plays the others."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from chaosops import Seat, load_policy, make_scenario
from chaosops.client import ChaosOpsClient
from chaosops.core.actions import Noop
from chaosops.core.errors import ChaosOpsError
from chaosops.core.vocabulary import Role
from chaosops.server.environment import ChaosOpsEnvironment
from chaosops.wire.openenv import ChaosOpsAction
from tests.server.conftest import Running
from tests.server.test_clients import defined_by, examples

NOOP = ChaosOpsAction(action="noop")
ARENA = {"pack": "arena", "split": "test", "tier": "hard", "seed": 3}


@pytest.mark.parametrize("role", Role)
def test_every_observation_is_of_the_role(role: Role) -> None:
    env = ChaosOpsEnvironment()
    seen = env.reset(**ARENA, role=role.value)
    seat = Seat(make_scenario(**ARENA), role)  # type: ignore[arg-type]
    assert env.state.reward == seat.episode.reward
    while not seen.done:
        assert seen.role == role.value
        assert seen.view is not None
        assert seen.view.role == role.value
        seen, step = env.step(NOOP), seat.act({"action": "noop"})
        assert (seen.reward, seen.step) == (step.reward, seat.episode.steps)
        assert seen.last_turn is not None
        assert seen.last_turn.role == role.value
        assert (seen.terminated, seen.truncated) == (step.terminated, step.truncated)
    assert seat.over
    assert seen.debrief is not None
    assert seen.debrief.reward == env.state.reward == seat.episode.reward


def test_the_rules_are_those_of_the_role() -> None:
    env = ChaosOpsEnvironment()
    whole, mine = env.reset(**ARENA).rules, env.reset(**ARENA, role="dev").rules
    assert whole is not None
    assert mine is not None
    assert whole.agents
    assert not mine.agents


def test_the_role_of_the_client_needs_no_partner() -> None:
    env = ChaosOpsEnvironment()
    seen = env.reset(**ARENA, role="dev", partners="sre=oracle,oversight=random,manager=random")
    assert seen.role == "dev"


def test_partners_may_end_the_episode_before_the_first_turn() -> None:
    env = ChaosOpsEnvironment()
    seen = env.reset(scenario="db_deadlock", seed=1, role="manager", partners="oracle")
    assert (seen.done, seen.terminated, seen.role, seen.reward) == (True, True, None, None)
    assert seen.debrief is not None
    with pytest.raises(ChaosOpsError, match="the episode is over: reset starts another"):
        env.step(NOOP)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"role": "ops"}, "unknown role 'ops'"),
        ({"partners": "heuristic"}, "name the role too"),
        ({"role": "dev", "partners": "heuristc"}, "did you mean 'heuristic'"),
        ({"role": "dev", "partners": "sre=oracle"}, "leaves out oversight, manager; name them, or"),
        ({"role": "dev", "partners": "x" * 300}, "at most 255"),
        # The search would hold up every other session.
        ({"role": "dev", "partners": "optimal"}, "unknown partner 'optimal'"),
        # Nothing that a client names is imported or loaded.
        ({"role": "dev", "partners": "os:system"}, "unknown partner 'os:system'"),
        ({"role": "dev", "partners": "../x.py:f"}, "unknown partner"),
        ({"role": "dev", "partners": "hf:owner/name"}, "unknown partner"),
        ({"role": "dev", "partners": "sre=/tmp/model,others=random"}, "unknown partner"),
    ],
)
def test_what_cannot_be_played_says_why_and_changes_nothing(
    options: dict[str, Any], said: str
) -> None:
    env = ChaosOpsEnvironment()
    env.reset(seed=1, episode_id="kept")
    with pytest.raises(ChaosOpsError, match=said):
        env.reset(**options)
    assert env.state.episode_id == "kept"


def test_rewards_of_the_clients_own_hold_for_all_turns() -> None:
    env = ChaosOpsEnvironment()
    earned = []
    for rewards in ({}, {"mttr": 0}, {"elapsed": -4}):
        seen = env.reset(**ARENA, role="sre", rewards=rewards)
        assert seen.reward is None
        earned.append(env.step(NOOP).reward)
    assert earned[0] is not None
    assert earned[1:] == [0, 2 * earned[0]]
    with pytest.raises(ChaosOpsError, match="unknown reward 'elapse'; did you mean 'elapsed'"):
        env.reset(rewards={"elapse": 1})
    with pytest.raises(ChaosOpsError, match="reward elapsed must be a number, got 'x'"):
        env.reset(rewards={"elapsed": "x"})


def test_an_agent_with_tools_plays_the_role() -> None:
    env = ChaosOpsEnvironment()
    env.reset(**ARENA, role="oversight")
    seen = asyncio.run(env.mcp_client.call_tool("noop", {}))
    assert seen.structuredContent is not None
    assert seen.structuredContent["role"] == "oversight"
    assert env.state.step_count == 5


def test_a_client_plays_one_role_over_the_network(served: Running) -> None:
    with ChaosOpsClient(served.url) as client:
        step = client.reset(**ARENA, role="oversight", partners="sre=keyword,others=heuristic")
        roles = set()
        while not step.done:
            roles.add(step.observation.role)
            step = client.step("no idea")
        assert roles == {"oversight"}
        assert step.observation.debrief is not None


def test_the_example_of_the_page_earns_what_the_seat_earns(served: Running) -> None:
    play_oversight = defined_by(examples(served.url)[1])["play_oversight"]
    asked = []

    def my_model(messages: list[Any]) -> str:
        asked.append(messages[0].content)
        return '{"action": "noop"}'

    seat = Seat(make_scenario(split="train", seed=5), "oversight")
    before = seat.episode.reward
    seat.finish(load_policy(lambda view: Noop()))
    assert play_oversight(my_model, 5) == pytest.approx(seat.episode.reward - before)
    assert all("You are Oversight" in text for text in asked)
