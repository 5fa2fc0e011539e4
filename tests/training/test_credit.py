from __future__ import annotations

import pytest

from chaosops.core.actions import IdentifyRootCause, Noop
from chaosops.core.decision import Decision
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.roles.menu import menu
from chaosops.rollout import Rollout, advance, load_team
from chaosops.training.continuation import Continuation
from chaosops.training.credited_turns import act, counterfactual_returns, play_on

ORACLE = load_team("oracle")


def test_returns_are_those_of_playing_it() -> None:
    env = Env(make_scenario("rogue_deploy_bot", tier="hard", seed=3))
    choices = menu(env.view)
    before = env.world
    returns = counterfactual_returns(env, choices, Continuation())
    assert env.world is before
    assert set(returns) == set(choices)
    for label in list(choices)[::7]:
        fork = env.fork()
        rollout = Rollout(fork, ORACLE)
        total = fork.play(Decision(choices[label])).score.total
        while not fork.over:
            total += advance([rollout])[0].score.total
        assert returns[label] == total


def test_the_oracles_action_is_among_the_best() -> None:
    """A flag can wait: the steps in which all is well cost nothing."""
    for seed in range(12):
        env = Env(make_scenario(pack="arena", split="train", tier="hard", seed=seed))
        rollout = Rollout(env, ORACLE)
        for _ in range(4):
            view = env.view
            choices = menu(view)
            returns = counterfactual_returns(env, choices, Continuation())
            best = {str(choices[k]) for k, v in returns.items() if v == max(returns.values())}
            turn = advance([rollout])[0]
            # A menu offers the acts in sight, which the rogue's may not be yet.
            if str(turn.decision.action) not in map(str, choices.values()):
                continue
            if view.role is Role.SRE:
                assert best == {str(IdentifyRootCause(env.cause))}
            assert str(turn.decision.action) in best or turn.decision.action.verb == "noop"
            if env.over:
                break


def test_actions_of_equal_effect_have_the_return_of_playing_them() -> None:
    """Flags of one agent, messages and wrong causes are each played once for all of them."""
    for seed in range(6):
        env = Env(make_scenario(pack="arena", split="train", tier="hard", seed=seed))
        for _ in range(2):
            choices = menu(env.view)
            returns = counterfactual_returns(env, choices, Continuation())
            for label, action in choices.items():
                fork = env.fork()
                rollout = Rollout(fork, ORACLE)
                total = fork.play(Decision(action)).score.total
                while not fork.over:
                    total += advance([rollout])[0].score.total
                assert returns[label] == total
            env.step({"action": "noop"})


@pytest.mark.parametrize(("failure", "pack"), [("rogue_deploy_bot", None), (None, "arena")])
def test_equal_worlds_share_what_the_oracle_earns(failure: str | None, pack: str | None) -> None:
    """Each continuation is the sum of the rewards of an oracle that plays it out."""
    rest = Continuation()
    for seed in range(3):
        env = Env(make_scenario(failure, pack=pack, tier="hard", seed=seed))
        for _ in range(6):
            for action in list(menu(env.view).values())[::5]:
                rollout = play_on(act(env, action))
                first = rollout.episode.turns[0].score.total
                after = env.fork()
                after.play(Decision(action))
                assert first + rest.value(after) == rollout.episode.reward
            env.play(Decision(Noop()))
