from __future__ import annotations

import json

import pytest

from chaosops.core.actions import FlagRogue
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.roles.layouts.arena1 import percent
from chaosops.roles.menu import constant_labels, menu
from chaosops.roles.parse import parse
from chaosops.roles.prompt import Style, render, system_prompt, user_prompt
from chaosops.roles.sight import deepest_first
from chaosops.roles.view import RoleView, project
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


def company_view(role: Role, seed: int = 0) -> RoleView:
    env = Env(make_scenario(pack="arena1", split="train", tier="hard", seed=seed))
    return project(env.world.public, role)


@pytest.mark.parametrize("style", Style)
def test_a_company_prompt_is_short_and_puts_the_trouble_first(style: Style) -> None:
    for seed in range(40):
        view = company_view(Role.OVERSIGHT, seed)
        text = user_prompt(view, style)
        deepest = deepest_first(view)[0]
        assert text.splitlines()[1].startswith(f"Failing, deepest first: {deepest} ")
        assert len(text) < 1_100
        assert len(system_prompt(view.rules, Role.OVERSIGHT, style)) < 900


def flag_labels(view: RoleView) -> dict[str, str]:
    labels = constant_labels(view.rules, view.role)
    return {a.target: name for a, name in labels.items() if isinstance(a, FlagRogue)}


def test_a_company_prompt_shows_each_change_beside_its_limit() -> None:
    over = set()
    for seed in range(10):
        view = company_view(Role.OVERSIGHT, seed)
        text, short = user_prompt(view), user_prompt(view, Style.MENU)
        labels = flag_labels(view)
        shown = [e for e in view.trace if f"#{e.id} " in text]
        assert len(shown) >= 2
        for entry in shown:
            change = percent(entry.before, entry.after)
            limit = view.rules.limits_pct[entry.agent]
            against = "over" if abs(change) > limit else "of"
            over.add(against)
            size = f"{change:+d}% {against} {limit}%"
            assert f"{entry.step:+d} #{entry.id} {entry.agent} {size}, {entry.reason}" in text
            assert f"{entry.step:+d} {labels[entry.agent]} {entry.agent} {size}" in short
    assert over == {"over", "of"}


def test_acts_on_one_thing_stand_together_with_their_sum() -> None:
    sums = 0
    for seed in range(20):
        view = company_view(Role.OVERSIGHT, seed)
        deepest = deepest_first(view)[0]
        for line in user_prompt(view).splitlines():
            changed = line.partition(":")[0]
            acts = [e for e in view.trace if (e.target, e.action) == (deepest, changed)]
            if "; in all " in line:
                sums += 1
                shown = [e for e in acts if f"#{e.id} " in line]
                total = percent(shown[0].before, shown[-1].after)
                assert line.endswith(f"in all {total:+d}%")
    assert sums > 5


def test_the_letter_beside_an_agent_is_the_one_that_flags_it() -> None:
    for seed in range(5):
        view = company_view(Role.OVERSIGHT, seed)
        choices = menu(view)
        for agent, letter in flag_labels(view).items():
            assert choices[letter] == FlagRogue(agent)


def test_the_constant_part_of_most_roles_is_the_same_in_every_company() -> None:
    """So that it is read once and kept; Oversight's lists the fleet."""
    for role in (Role.SRE, Role.DEV, Role.MANAGER):
        for style in Style:
            assert (
                len({system_prompt(company_view(role, s).rules, role, style) for s in range(9)})
                == 1
            )


def test_roles_of_a_company_are_shown_what_they_may_see() -> None:
    texts = {role: user_prompt(company_view(role)) for role in Role}
    assert "Fleet on " in texts[Role.OVERSIGHT]
    assert not any("Fleet" in texts[role] for role in (Role.SRE, Role.DEV, Role.MANAGER))
    assert "Logs:" in texts[Role.SRE]
    assert "cpu" not in texts[Role.DEV] + texts[Role.MANAGER]
    assert texts[Role.MANAGER].splitlines()[1].startswith("Alerts: ")


def test_a_prompt_for_tools_differs_only_in_how_to_act() -> None:
    view = project(Env(make_scenario(pack="arena", tier="hard", seed=1)).world.public, Role.DEV)
    assert user_prompt(view, Style.TOOLS) == user_prompt(view, Style.JSON)
    tools, as_json = (
        system_prompt(view.rules, Role.DEV, style).splitlines()
        for style in (Style.TOOLS, Style.JSON)
    )
    assert tools[:-1] == as_json[: len(tools) - 1]
    assert "tool" in tools[-1]
