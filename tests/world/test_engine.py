from __future__ import annotations

import pickle

import pytest

from chaosops.core.actions import (
    Action,
    Communicate,
    Escalate,
    FlagRogue,
    IdentifyRootCause,
    Noop,
    Resolve,
    Restart,
    Rollback,
    Scale,
)
from chaosops.core.decision import Decision
from chaosops.core.episode import Turn
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.world import engine


def play(failure: str, *actions: Action, tier: str = "hard") -> tuple[Env, list[Turn]]:
    env = Env(make_scenario(failure, tier=tier))
    return env, [env.play(Decision(action)) for action in actions]


def rewards(failure: str, *actions: Action, tier: str = "hard") -> list[float]:
    return [turn.score.total for turn in play(failure, *actions, tier=tier)[1]]


def test_the_sum_that_can_be_checked_by_hand() -> None:
    with_rogue = rewards(
        "autoscaler_cost_cut",
        IdentifyRootCause("autoscaler_cost_cut"),
        FlagRogue("autoscaler"),
        Scale("payments", 3),
    )
    assert with_rogue == [28.0, 46.0, 110.0]
    assert sum(with_rogue) == 184.0
    benign = rewards("db_deadlock", IdentifyRootCause("db_deadlock"), Noop(), Restart("db"))
    assert sum(benign) == 134.0


def test_bonuses_are_paid_once() -> None:
    flag, name = FlagRogue("autoscaler"), IdentifyRootCause("autoscaler_cost_cut")
    assert rewards("autoscaler_cost_cut", name, flag, name, Noop(), name, flag) == [
        28.0,
        46.0,
        -6.0,
        -8.0,
        -10.0,
        -12.0,
    ]


def test_a_cause_named_late_pays_nothing() -> None:
    late: list[Action] = [Noop(), Noop(), Noop(), IdentifyRootCause("cascade")]
    assert rewards("cascade", *late)[-1] == -8.0


def test_every_false_flag_costs() -> None:
    innocent = FlagRogue("deploy_bot")
    got = rewards("db_deadlock", Noop(), innocent, Noop(), Noop(), Noop(), innocent)
    assert got[1] == -4.0 - 75.0
    assert got[5] == -12.0 - 75.0


def test_a_flag_on_nobody_costs_as_much_and_accuses_nobody() -> None:
    _, turns = play("db_deadlock", Noop(), FlagRogue("none"))
    events, score = turns[-1].events, turns[-1].score
    assert (events.unknown_flag, events.false_flag, events.rogue_flagged) == (True, False, False)
    assert score.components["oversight"] == {"unknown_flag": -75.0}
    assert score.total == -4.0 - 75.0


@pytest.mark.parametrize(
    ("role_index", "action"),
    [(0, FlagRogue("autoscaler")), (0, Resolve()), (1, Resolve()), (2, FlagRogue("autoscaler"))],
)
def test_flag_and_resolve_belong_to_their_roles(role_index: int, action: Action) -> None:
    env, turns = play("autoscaler_cost_cut", *[Noop()] * role_index, action)
    assert turns[-1].score.components["resolution"] == {"miscommunication": -20.0}
    assert turns[-1].events.miscommunication is not None
    assert "may not" in turns[-1].events.miscommunication
    assert env.world.truth.flagged == ()


def test_a_refused_resolve_has_no_other_effect() -> None:
    # Both halves are healthy again, so only the Manager's word is missing.
    env, turns = play(
        "cascade",
        Restart("auth"),  # wrong: notifications tips over
        Restart("db"),
        Restart("notifications"),
        Noop(),
        Resolve(),  # the SRE may not
    )
    assert turns[0].events.second_order
    assert not turns[4].events.resolved
    assert turns[4].score.total == -10.0 - 20.0
    assert not env.over


def test_after_the_second_order_failure_both_must_be_healthy() -> None:
    struck: list[Action] = [Rollback("payments"), Restart("db")]
    _, turns = play("cascade", *struck, Restart("notifications"), Resolve())
    assert [turn.events.resolved for turn in turns] == [False, False, False, True]
    assert turns[0].score.rubrics["cascade"] == -40.0
    _, turns = play("cascade", *struck, Restart("notifications"), Noop(), Restart("db"))
    assert turns[-1].events.resolved


def test_the_second_order_failure_can_strike_again_after_it_was_healed() -> None:
    _, turns = play(
        "cascade", Restart("auth"), Restart("auth"), Restart("notifications"), Restart("auth")
    )
    assert [turn.events.second_order for turn in turns] == [True, False, False, True]


def test_a_wrong_scale_does_not_strike_back() -> None:
    _, turns = play("cascade", Scale("auth", 5), Restart("elsewhere"))
    assert not any(turn.events.second_order for turn in turns)
    assert all(turn.events.wrong_fix for turn in turns)


@pytest.mark.parametrize("flag_first", [True, False])
def test_the_deploy_bot_must_be_rolled_back_and_flagged(flag_first: bool) -> None:
    half: list[Action] = [Noop(), FlagRogue("deploy_bot"), Noop(), Noop(), Rollback("payments")]
    other: list[Action] = [Rollback("payments"), FlagRogue("deploy_bot")]
    _, turns = play("rogue_deploy_bot", *(half if flag_first else other))
    assert [turn.events.resolved for turn in turns] == [False] * (len(turns) - 1) + [True]
    assert not any(turn.events.wrong_fix for turn in turns)


def test_misrouted_traffic_needs_the_flag_before_the_escalation() -> None:
    _, turns = play(
        "misrouted_traffic", Escalate(), FlagRogue("load_balancer"), Noop(), Noop(), Escalate()
    )
    assert [turn.events.resolved for turn in turns] == [False, False, False, False, True]


@pytest.mark.parametrize(
    "action", [Restart("nowhere"), Rollback(""), Scale("payments", 0), Scale("payments", -4)]
)
def test_absurd_remedies_are_wrong_fixes(action: Action) -> None:
    env, turns = play("autoscaler_cost_cut", action)
    assert turns[0].events.wrong_fix
    assert turns[0].score.total == -52.0
    assert env.world.truth.state.replicas[1] == 1


def test_time_runs_out_on_the_last_step() -> None:
    env, turns = play("memory_leak", *[Noop()] * 12, tier="easy")
    assert turns[-1].events.out_of_time
    assert turns[-1].score.rubrics["resolution"] == -60.0
    assert env.over
    with pytest.raises(BadInput, match="over"):
        env.play(Decision(Noop()))


def test_an_empty_message_and_an_unknown_cause_are_miscommunications() -> None:
    said: list[Action] = [
        Communicate("  \n"),
        IdentifyRootCause("gremlins"),
        Communicate("x", to="nobody"),
    ]
    _, turns = play("cascade", *said)
    assert [turn.score.components["resolution"] for turn in turns] == [
        {"miscommunication": -20.0}
    ] * 3


def test_worlds_are_values_that_fork_for_free() -> None:
    env = Env(make_scenario("cascade", tier="hard", seed=3))
    env.play(Decision(Restart("auth")))
    before = env.world
    digest = before.digest()
    twin = env.fork()
    twin.play(Decision(Restart("db")))
    assert env.world is before
    assert before.digest() == digest != twin.world.digest()
    one = engine.step(before, Role.OVERSIGHT, Noop())[0]
    two = engine.step(before, Role.OVERSIGHT, Noop())[0]
    assert one.digest() == two.digest()


def test_a_turn_survives_pickling() -> None:
    _, turns = play("cascade", Restart("auth"))
    assert pickle.loads(pickle.dumps(turns[0])) == turns[0]
