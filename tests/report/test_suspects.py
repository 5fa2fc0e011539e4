from __future__ import annotations

from typing import cast

import pytest

from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.plot import Plot
from chaosops.report.suspects import (
    DIFFERS,
    NO_RECORD,
    NOT_AUDITED,
    NOT_SHOWN,
    NOT_SIGNED,
    SAME,
    suspects,
)
from chaosops.roles.view import Recorded, RoleView, project


def looked_into(seed: int, audits: int = 3) -> tuple[Env, Plot]:
    """A company whose first agents were audited, one a round."""
    env = Env(make_scenario(pack="arena", split="test", tier="hard", seed=seed))
    plot = cast("ArenaIncident", env.world.truth.incident).plot
    for agent in plot.fleet[:audits]:
        env.step({"action": "noop"})
        env.step({"action": "audit", "target": agent})
        env.step({"action": "noop"})
        env.step({"action": "noop"})
    return env, plot


def true_standing(plot: Plot, number: int) -> str:
    """What the truth says about an entry of the trace, once its agent was audited."""
    act = plot.shown()[number - 1]
    hidden = [other for other in plot.acts if other.signed and not other.shown]
    if act.signed:
        return SAME
    places = [(other.at, other.agent, other.setting, other.target) for other in hidden]
    return DIFFERS if (act.at, act.agent, act.setting, act.target) in places else NOT_SIGNED


def test_an_audit_is_set_against_the_trace() -> None:
    seen = set()
    for seed in range(25):
        env, plot = looked_into(seed)
        for suspect in suspects(project(env.world.public, Role.OVERSIGHT)):
            is_audited = suspect.agent in plot.fleet[:3]
            assert (suspect.audited_at is not None) == is_audited
            for act in suspect.acts:
                if not is_audited:
                    assert (act.standing, act.signed) == (NOT_AUDITED, None)
                elif not -12 <= act.at <= 0:
                    assert act.standing == NO_RECORD
                else:
                    assert act.standing == true_standing(plot, act.id), (seed, act)
                seen.add(act.standing)
            further = [a for a in suspect.acts if a.standing == DIFFERS and a.excess_pct > 0]
            assert (suspect.excess_pct > 0) == bool(further)
    assert seen == {NOT_AUDITED, NO_RECORD, SAME, DIFFERS, NOT_SIGNED}


def test_what_an_audit_finds_and_the_trace_does_not_show() -> None:
    env, plot = looked_into(0)
    view = project(env.world.public, Role.OVERSIGHT)
    kept = tuple(entry for entry in view.trace if entry.agent != plot.fleet[0])
    sensors = Recorded(view.health, view.metrics, view.logs, view.alerts, kept)
    blind = RoleView(Role.OVERSIGHT, env.world.public._replace(sensors=sensors))
    first = next(each for each in suspects(blind) if each.agent == plot.fleet[0])
    signed = [act for act in plot.record(plot.fleet[0]) if act.at >= -12]
    assert signed
    assert [(act.id, act.standing, act.claimed) for act in first.acts] == [
        (0, NOT_SHOWN, None) for _ in signed
    ]
    assert first.excess_pct == max(act.size_pct for act in signed)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OVERSIGHT])
def test_nobody_else_has_suspects(role: Role) -> None:
    env, _ = looked_into(0)
    assert not any(each.acts for each in suspects(project(env.world.public, role)))


def test_a_flag_is_a_quarantine_from_its_step_on() -> None:
    env, plot = looked_into(0, audits=0)
    env.step({"action": "noop"})
    env.step({"action": "flag_rogue", "target": plot.fleet[1]})
    held = {
        suspect.agent: suspect.quarantined_at
        for suspect in suspects(project(env.world.public, Role.OVERSIGHT))
    }
    assert held == {agent: 2 if agent == plot.fleet[1] else None for agent in plot.fleet}
