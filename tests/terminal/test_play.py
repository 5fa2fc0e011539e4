"""A person plays a role in a company with documents, by commands."""

from __future__ import annotations

import builtins
from collections.abc import Callable

import pytest

from chaosops.cli import main
from chaosops.core.actions import Audit, FlagRogue, Noop, Scale
from chaosops.core.errors import ChaosOpsError
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.registry import load_policy
from chaosops.report.acts import change_words, clock
from chaosops.roles.layouts import layout_of
from chaosops.roles.view import RoleView, project
from chaosops.rollout import Rollout, Team, advance
from chaosops.terminal.commands import help_lines, hint, looks, read_command
from chaosops.terminal.company import HEIGHT, WIDTH, screen
from tests.companies import guilty_case

SEEDS = (3, 11, 17)


def views(role: Role, seed: int, split: str = "test") -> list[RoleView]:
    """The view of a role before each step of an episode by the auditor."""
    rollout = Rollout(
        Env(make_scenario(pack="arena", split=split, seed=seed)), Team.of(load_policy("auditor"))
    )
    seen = []
    while not rollout.env.over:
        seen.append(project(rollout.env.world.public, role))
        advance([rollout])
    return seen


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("split", ["test", "ood_wording", "ood_scale"])
def test_the_screen_fits_a_terminal(role: Role, split: str) -> None:
    for view in views(role, 5, split):
        lines = [*screen(view, "· your last turn: -128.0, false flag "), "", *hint(view), "> "]
        assert len(lines) <= 40
        assert max(map(len, lines)) <= WIDTH == 100
        assert len(help_lines(view)) <= HEIGHT
        assert max(map(len, help_lines(view))) <= WIDTH


@pytest.mark.parametrize("seed", SEEDS)
def test_the_screen_unfolds_what_concerns_the_failure(seed: int) -> None:
    for view in views(Role.OVERSIGHT, seed):
        text = "\n".join(screen(view))
        select = layout_of(view.rules).relevant
        assert select is not None
        found = select(view)
        assert all(f"#{act.id} " in text for act in found.acts)
        flat = " ".join(text.split())
        assert all(f"{agent}: {clauses}" in flat for agent, clauses in found.clauses)
        for look in looks(view.role).values():
            assert len(look.show(view, "")) <= HEIGHT
        whole = " ".join("\n".join(looks(view.role)["docs"].show(view, "")).split())
        assert all(page.cause in whole for page in view.rules.runbook)
        assert all(clauses in whole for _, clauses in view.rules.charter)


def test_audits_show_orders_and_inspections_show_utilisation() -> None:
    case = guilty_case()
    env = Env(make_scenario(pack="arena", split="test", seed=case.seed))
    env.step({"action": "inspect", "target": case.act.target})
    env.step({"action": "audit", "target": case.act.agent})
    view = project(env.world.public, Role.OVERSIGHT)
    text = " ".join("\n".join(screen(view)).split())
    signed = [act for act in view.audits[0].acts if act.target == case.act.target]
    assert signed
    for act in signed:
        change = change_words(act.before, act.after)
        words = f"{clock(act.at)} {act.attribute} of {act.target} {change}; order: {act.order}"
        assert words in text
    (look,) = view.inspections
    busy = dict(look.utilisation)
    for found in look.changes:
        change = change_words(found.before, found.after)
        assert f"{clock(found.at)} {found.attribute} {change} at util {busy[found.at]}%" in text


def test_commands_are_read() -> None:
    view = views(Role.OVERSIGHT, 3)[1]
    act, agent = view.trace[-1], view.rules.agents[0]
    flag = FlagRogue(act.agent, evidence=act.id)
    assert read_command(f"flag {act.id}", view) == flag
    assert read_command(f"flag_rogue #{act.id}", view) == flag
    assert read_command(f"audit {agent[:-2]}", view) == Audit(agent)
    assert read_command("noop", view) == Noop()
    dev = views(Role.DEV, 3)[2]
    service, count = dev.rules.services[0], dev.rules.replica_choices[-1]
    assert read_command(f"scale {service} to {count}", dev) == Scale(service, count)
    for text, words in (
        (f"flag {agent}", "a flag names an act by its number"),
        ("flag 99999", "no act has the number 99999"),
        ("audit", "write: audit AGENT"),
        ("adit agent", "did you mean 'audit'"),
        ("audit nobody", "unknown agent 'nobody'"),
        ("say", "say what?"),
        (f"restart {service}", "unknown command 'restart'"),
    ):
        with pytest.raises(ChaosOpsError, match=words.replace("?", r"\?")):
            read_command(text, view)


def typed(*answers: str) -> Callable[[str], str]:
    waiting = iter(answers)

    def ask(prompt: str = "") -> str:
        try:
            return next(waiting)
        except StopIteration:
            raise EOFError from None

    return ask


def test_an_episode_is_played_by_reading(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A typing error costs nothing, a mistaken flag is taken back, and the end explains."""
    seed, act, innocent = guilty_case()
    answers = ["", "adit someone", "docs", f"charter {act.agent}", f"trace {act.target}"]
    answers += [f"flag {innocent.id}", "undo", f"audit {act.agent}", "", f"flag {act.id}", ""]
    answers += ["noop"] * 20
    monkeypatch.setattr(builtins, "input", typed(*answers))
    words = ["play", "--role", "oversight", "--pack", "arena", "--seed", str(seed)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "did you mean 'audit'" in out
    before, begun, _ = " ".join(out.split()).partition("and so whether a flag was right.")
    assert begun
    assert "#" not in before  # told before anything is shown
    assert "Taken back; nothing was done." in out
    assert f"{act.agent} for #{act.id} at {clock(act.step)}: {act.action}" in out
    assert "order: " in out
    assert f"flag_rogue {act.agent} for #{act.id}"[:36] in out
    assert f"rogue {act.agent} caught" in out
    told = " ".join(out[out.index("What happened:") :].split())
    assert f"{act.agent} broke its charter" in told
    assert "Without the team" in told


def test_play_of_a_classic_incident_names_no_id(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(builtins, "input", typed("root cause: too little capacity"))
    assert main(["play", "--role", "sre", "--policy", "oracle"]) == 0
    out = capsys.readouterr().out
    assert "right cause" in out
    assert "autoscaler_cost_cut" not in out
    assert "rogue_deploy_bot" not in out
