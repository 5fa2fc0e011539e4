"""Episodes to play on a server: the messages to send, and the answers that must come back."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from chaosops import Env, Team, load_policy, make_scenario, play
from chaosops.core.actions import to_wire
from chaosops.core.scenario import Scenario
from chaosops.roles.prompt import render
from chaosops.wire.views import view_to_wire

SEEDS = 16  # different episodes of each pack


class Script(NamedTuple):
    """An episode to play: what to send, and what must come back."""

    reset: str
    steps: tuple[str, ...]
    expected: tuple[dict[str, Any], ...]


def scripts_of(pack: str, include: list[str] | None = None) -> list[Script]:
    team = Team.of(load_policy("random"))
    return [
        script_of(scenario, team, include) for scenario in map(_scenario_of(pack), range(SEEDS))
    ]


def _scenario_of(pack: str) -> Any:
    failures = ("autoscaler_cost_cut", "db_deadlock", "cascade", "rogue_deploy_bot")

    def make(seed: int) -> Scenario:
        if pack == "arena":
            return make_scenario(pack=pack, split="train", tier="hard", seed=seed)
        return make_scenario(failures[seed % len(failures)], tier="hard", seed=seed)

    return make


def script_of(scenario: Scenario, team: Team, include: list[str] | None) -> Script:
    episode = play(scenario, team)
    env = Env(scenario)
    sent, expected = [], [{"reward": None, **_shown(env, include)}]
    for turn in episode.turns:
        env.play(turn.decision)
        sent.append({"type": "step", "data": to_wire(turn.decision.action)})
        expected.append({"reward": turn.score.total, **_shown(env, include)})
    asked = {
        "pack": scenario.pack,
        "tier": scenario.tier.value,
        "seed": scenario.seed,
        **({"split": scenario.split} if scenario.split else {"scenario": scenario.failure}),
        **({} if include is None else {"include": include}),
    }
    reset = json.dumps({"type": "reset", "data": asked})
    return Script(reset, tuple(map(json.dumps, sent)), tuple(expected))


def _shown(env: Env, include: list[str] | None) -> dict[str, Any]:
    if env.over:
        return {"view": None, "messages": []}
    view = view_to_wire(env.view) if include is None else None
    return {"view": json.loads(json.dumps(view)), "messages": render(env.view)}


def echo_script(kind: str) -> Script:
    call = {"type": "call_tool", "tool_name": "echo_message", "arguments": {"message": "hello"}}
    step = {"type": "step", "data": {"message": "hello"} if kind == "echo" else call}
    return Script('{"type": "reset", "data": {"seed": 0}}', (json.dumps(step),) * 32, ())
