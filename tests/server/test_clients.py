"""The clients against a real server, and the examples of their page."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from chaosops import Env, Team, load_policy, make_scenario, play
from chaosops.client import ChaosOpsAction, ChaosOpsClient, ChaosOpsEnv
from chaosops.client.openenv_core import EnvClient
from chaosops.core.actions import Noop
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput
from chaosops.policies.protocol import DecisionRequest
from tests.server.conftest import Running

PAGE = Path(__file__).parents[2] / "docs/server.md"


def examples(url: str) -> list[str]:
    page = PAGE.read_text(encoding="utf-8")
    found: list[str] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    programs = [example for example in found if not example.startswith(">>>")]
    return [example.replace("http://127.0.0.1:8000", url) for example in programs]


def defined_by(example: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(example, str(PAGE), "exec"), names)
    return names


def test_the_first_example_plays_an_episode(
    served: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    defined_by(examples(served.url)[0])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 33
    assert lines[0].startswith("0 sre ")
    assert lines[-1].startswith("it was ")


def test_the_training_example_rewards_what_the_episode_earned(served: Running) -> None:
    names = defined_by(examples(served.url)[2])
    with names["env"]:
        rows = names["dataset"](range(3))
        assert [row["seed"] for row in rows] == [0, 1, 2]
        assert all("You are Oversight" in row["prompt"][0]["content"] for row in rows)
        replies = ['{"action": "noop"}', "I accuse nobody", '{"action": "noop"}']
        completions = [[{"role": "assistant", "content": reply}] for reply in replies]
        rewards = names["episode_reward"]([], completions, [0, 0, 1])
    assert rewards[1] == rewards[0] - 20.0  # a reply that cannot be read is a miscommunication
    scenario = make_scenario(pack="arena", split="train", tier="hard", seed=1)
    heuristic = play(scenario, Team.of(load_policy("heuristic")))
    env, total = Env(scenario), 0.0
    for decision in [heuristic.turns[0].decision, Decision(Noop())]:
        total = env.play(decision).score.total
    policy = load_policy("heuristic")
    while not env.over:
        total += env.play(policy.decide([DecisionRequest(env.view, key=0)])[0]).score.total
    assert rewards[2] == total


def test_the_tools_example_acts_as_an_agent(served: Running) -> None:
    names = defined_by(examples(served.url)[3])
    assert asyncio.run(names["act"](served.url)) == "oversight"


def test_the_typed_client_asks_and_reads(served: Running) -> None:
    async def drive() -> None:
        async with ChaosOpsEnv(served.url) as env:
            result = await env.reset(scenario="db_deadlock", tier="easy", seed=1)
            view = result.observation.view
            assert view is not None
            assert (view.role, view.metrics[0].service) == ("sre", "auth")
            state = await env.state()
            assert (state.status, state.pack, state.role) == ("running", "classic", "sre")
            with pytest.raises(RuntimeError, match="restart needs target"):
                await env.step(ChaosOpsAction(action="restart"))
            result = await env.step(
                '{"action": "identify_root_cause", "failure_type": "db_deadlock"}'
            )
            assert result.reward == 28.0
            assert result.observation.last_turn is not None
            assert result.observation.last_turn.components["resolution"] == {"root_cause": 30.0}
            result = await env.step(ChaosOpsAction(action="restart", target="db"))
            assert (result.reward, result.done) == (110.0, True)
            assert result.observation.debrief is not None
            assert result.observation.debrief.failure == "db_deadlock"

    asyncio.run(drive())


def test_the_openenv_client_has_what_openenv_gives_it(served: Running) -> None:
    assert issubclass(ChaosOpsEnv, EnvClient)

    async def drive() -> None:
        async with ChaosOpsEnv(served.url) as env:
            await env.reset(seed=1)
            other = await env.new_session()
            assert type(other) is ChaosOpsEnv
            assert (await other.state()).status == "no_episode"
            await other.disconnect()
            assert (await env.state()).status == "running"

    asyncio.run(drive())


def test_the_small_client_tells_the_same(served: Running) -> None:
    options = {"scenario": "db_deadlock", "tier": "easy", "seed": 1, "episode_id": "x"}
    actions: list[Any] = [
        ChaosOpsAction(action="identify_root_cause", failure_type="db_deadlock"),
        {"action": "restart", "target": "db"},
    ]
    with ChaosOpsClient(served.url) as small, ChaosOpsEnv(served.url).sync() as env:
        assert small.state().status == "no_episode"
        assert small.reset(**options).observation == env.reset(**options).observation
        with pytest.raises(BadInput, match="restart needs target"):
            small.step({"action": "restart"})
        for action in actions:
            told, expected = small.step(action), env.step(action)
            assert told.observation == expected.observation
            assert (told.reward, told.done) == (expected.reward, expected.done)
        assert small.state() == env.state()
