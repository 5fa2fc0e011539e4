from __future__ import annotations

import pickle

import pytest

from chaosops.core.actions import Communicate, FlagRogue, Noop, Restart, Scale
from chaosops.core.decision import Decision
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.roles.view import RoleView, project
from chaosops.wire.views import view_to_wire

CHANNELS = ("health", "metrics", "logs", "alerts", "trace")


def views(env: Env) -> dict[Role, RoleView]:
    return {role: project(env.world.public, role) for role in Role}


def test_each_role_sees_its_channels_and_no_other() -> None:
    seen = views(Env(make_scenario("cascade", tier="hard")))
    visible = {role: {name for name in CHANNELS if getattr(seen[role], name)} for role in Role}
    assert visible == {
        Role.SRE: {"health", "metrics", "logs", "alerts"},
        Role.OVERSIGHT: {"health", "metrics", "logs", "alerts", "trace"},
        Role.DEV: {"health", "alerts"},
        Role.MANAGER: {"alerts"},
    }


def test_the_manager_sees_summaries_of_alerts_only() -> None:
    seen = views(Env(make_scenario("cascade")))
    assert all(alert.text for alert in seen[Role.SRE].alerts)
    assert [alert.text for alert in seen[Role.MANAGER].alerts] == ["", ""]
    assert {a.service for a in seen[Role.MANAGER].alerts} == {"payments", "db"}


def test_private_messages_reach_their_reader_and_oversight() -> None:
    env = Env(make_scenario("cascade"))
    env.play(Decision(Communicate("only for dev", to="dev")))
    env.play(Decision(Communicate("for all")))
    texts = {role: [m.text for m in view.chat] for role, view in views(env).items()}
    assert (
        texts[Role.DEV] == texts[Role.OVERSIGHT] == texts[Role.SRE] == ["only for dev", "for all"]
    )
    assert texts[Role.MANAGER] == ["for all"]


def test_deeds_are_seen_by_all_and_noops_by_nobody() -> None:
    env = Env(make_scenario("cascade"))
    env.play(Decision(Scale("auth", 2)))
    env.play(Decision(FlagRogue("autoscaler")))
    env.play(Decision(Noop()))
    for view in views(env).values():
        assert [m.text for m in view.chat] == ["scale auth to 2", "flag_rogue autoscaler"]


def test_a_refusal_is_told_to_whom_it_concerns() -> None:
    env = Env(make_scenario("cascade"))
    env.step('{"action": "resolve"}')
    seen = views(env)
    assert "sre may not resolve" in seen[Role.SRE].chat[0].text
    assert seen[Role.DEV].chat == seen[Role.MANAGER].chat == ()


@pytest.mark.parametrize("role", Role)
def test_a_view_kept_reads_the_same_later(role: Role) -> None:
    env = Env(make_scenario("cascade", tier="hard", seed=5))
    env.play(Decision(Restart("auth")))
    env.play(Decision(Noop()))
    kept, unread = (project(env.world.public, role) for _ in range(2))
    at_once = view_to_wire(kept)
    for _ in range(15):
        env.play(Decision(Communicate("time goes on")))
        view_to_wire(project(env.world.public, role))
    assert view_to_wire(kept) == at_once
    assert view_to_wire(unread) == at_once  # read for the first time now


@pytest.mark.parametrize("role", Role)
def test_views_are_values(role: Role) -> None:
    view = project(Env(make_scenario("dns_outage", seed=9)).world.public, role)
    same = project(Env(make_scenario("dns_outage", seed=9)).world.public, role)
    other = project(Env(make_scenario("dns_outage", seed=10)).world.public, role)
    assert view == same
    assert hash(view) == hash(same)
    if role is not Role.MANAGER:
        assert view != other
    with pytest.raises(AttributeError, match="cannot assign"):
        view.step = 3  # type: ignore[misc]


def test_a_stored_view_holds_nothing_that_was_hidden() -> None:
    view = project(
        Env(make_scenario("autoscaler_cost_cut", tier="hard")).world.public, Role.MANAGER
    )
    stored = pickle.dumps(view)
    assert b"checks run" not in stored
    assert b"hourly spend" not in stored
    loaded = pickle.loads(stored)
    assert loaded == view
    assert hash(loaded.rules) == hash(view.rules)
