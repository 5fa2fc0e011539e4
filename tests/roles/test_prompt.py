from __future__ import annotations

import json

import pytest

from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.roles.parse import parse
from chaosops.roles.prompt import Style, render, system_prompt, user_prompt
from chaosops.roles.view import project
from tests.golden.record import PACKS, golden_prompts, prompts_file


@pytest.mark.parametrize("pack", PACKS)
def test_prompts_equal_the_golden_file(pack: str) -> None:
    assert golden_prompts(pack) == json.loads(prompts_file(pack).read_text(encoding="utf-8"))


@pytest.mark.parametrize("role", Role)
def test_the_constant_part_is_the_same_for_every_failure(role: Role) -> None:
    prompts = {
        render(project(Env(make_scenario(failure, tier="hard", seed=seed)).world.public, role))[0][
            "content"
        ]
        for failure in load_pack("classic").failures()
        for seed in range(3)
    }
    assert len(prompts) == 1


def test_no_answer_key() -> None:
    """No line brings a failure together with a service or an agent, but for the bare lists."""
    rules, _, _ = load_pack("classic").open(make_scenario("cascade"))
    for role in Role:
        for line in system_prompt(rules, role).splitlines():
            names_cause = any(cause in line for cause in rules.causes)
            if names_cause:
                assert line == "Failures: " + ", ".join(sorted(rules.causes))


@pytest.mark.parametrize("role", Role)
def test_the_forms_shown_are_readable_replies(role: Role) -> None:
    rules, _, _ = load_pack("classic").open(make_scenario("cascade"))
    forms = [line for line in system_prompt(rules, role).splitlines() if line.startswith("{")]
    filled = [form.split(" or ")[0].replace(":N}", ":3}") for form in forms]
    assert [parse(form).verb for form in filled] == list(rules.verbs[role])


def test_hidden_channels_are_not_written_out() -> None:
    world = Env(make_scenario("autoscaler_cost_cut", tier="hard", seed=1)).world
    shown = {role: user_prompt(project(world.public, role)) for role in Role}
    assert "Fleet:" in shown[Role.OVERSIGHT]
    assert not any("Fleet:" in shown[role] for role in (Role.SRE, Role.DEV, Role.MANAGER))
    assert "Logs:" not in shown[Role.DEV] + shown[Role.MANAGER]
    assert "Metrics:" not in shown[Role.DEV] + shown[Role.MANAGER]


def test_chat_says_who_spoke_to_whom() -> None:
    env = Env(make_scenario("cascade"))
    env.step('{"action":"communicate","message":"look at db","to":"dev"}')
    env.step('{"action":"noop"}')
    assert "+1 sre to you: look at db" in user_prompt(env.view)
    assert "+1 you to dev: look at db" in user_prompt(project(env.world.public, Role.SRE))


def test_a_prompt_for_tools_differs_only_in_how_to_act() -> None:
    view = project(Env(make_scenario(pack="arena", tier="hard", seed=1)).world.public, Role.DEV)
    assert user_prompt(view, Style.TOOLS) == user_prompt(view, Style.JSON)
    tools, as_json = (
        system_prompt(view.rules, Role.DEV, style).splitlines()
        for style in (Style.TOOLS, Style.JSON)
    )
    assert tools[:-1] == as_json[: len(tools) - 1]
    assert "tool" in tools[-1]
