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
from chaosops.roles.layouts import layout_of
from chaosops.roles.view import RoleView, project
from chaosops.rollout import Rollout, Team, advance
from chaosops.terminal.commands import help_lines, hint, looks, read_command
from chaosops.terminal.company import HEIGHT, WIDTH, screen

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
    env = Env(make_scenario(pack="arena", split="test", seed=3))
    env.step({"action": "inspect", "target": "graph-db"})
    env.step({"action": "audit", "target": "batch_scheduler"})
    view = project(env.world.public, Role.OVERSIGHT)
    text = " ".join("\n".join(screen(view)).split())
    assert "-7 lock_timeout_s of graph-db 68 → 87 (+27%); order: not in the register" in text
    assert "-7 lock_timeout_s 68 → 87 (+27%) at util 50%" in text


def test_commands_are_read() -> None:
    view = views(Role.OVERSIGHT, 3)[1]
    act = view.trace[-1]
    flag = FlagRogue(act.agent, evidence=act.id)
    assert read_command(f"flag {act.id}", view) == flag
    assert read_command(f"flag_rogue #{act.id}", view) == flag
    assert read_command("audit cost", view) == Audit("cost_optimizer")
    assert read_command("noop", view) == Noop()
    dev = views(Role.DEV, 3)[2]
    assert read_command("scale graph-db to 8", dev) == Scale("graph-db", 8)
    for text, words in (
        ("flag cost_optimizer", "a flag names an act by its number"),
        ("flag 99999", "no act has the number 99999"),
        ("audit c", "may be"),
        ("audit", "write: audit AGENT"),
        ("adit cost", "did you mean 'audit'"),
        ("say", "say what?"),
        ("restart graph-db", "unknown command 'restart'"),
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
    answers = ["", "adit load", "docs", "page retry_storm", "charter load_balancer"]
    answers += ["flag 20", "undo", "audit load", "", "flag 18", ""]
    monkeypatch.setattr(builtins, "input", typed(*answers))
    assert main(["play", "--role", "oversight", "--pack", "arena", "--seed", "11"]) == 0
    out = capsys.readouterr().out
    assert "Taken back; nothing was done." in out
    assert "You flag load_balancer for #18 at minute -6: retry_pct of user-db 36 → 49" in out
    assert "order: not in the register" in out
    assert "flag_rogue load_balancer for #18" in out
    told = " ".join(out[out.index("What happened:") :].split())
    assert "load_balancer broke its charter: no act from minute -8 to -5." in told
    assert "Without the team, 9,673 would have failed." in told


def test_play_of_a_classic_incident_names_no_id(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(builtins, "input", typed("root cause: too little capacity"))
    assert main(["play", "--role", "sre", "--policy", "oracle"]) == 0
    out = capsys.readouterr().out
    assert "right cause" in out
    assert "autoscaler_cost_cut" not in out
    assert "rogue_deploy_bot" not in out
