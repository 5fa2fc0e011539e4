"""What method ``menu`` learns from: turns of episodes, each with the counterfactual return of
every action.

The turns of episode ``index`` depend on the recipe and the index only. So any number of
processes can compute them, and a run can resume anywhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from chaosops.core.actions import Action, Audit
from chaosops.core.decision import Chat, Decision
from chaosops.core.dice import Dice, key_of
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.packs import DEFAULT_PACK, load_pack, make_scenario
from chaosops.roles.menu import menu
from chaosops.roles.prompt import Style, render
from chaosops.rollout import Rollout, Team, advance, load_team
from chaosops.rubrics import standard
from chaosops.training.behaviour import Behaviour
from chaosops.training.credit import counterfactual_returns
from chaosops.training.recipe import Recipe, multiplier_at, read_curriculum, read_role_shares
from chaosops.training.seeds import seed_of

TURNS = 14  # of an episode: later turns repeat the earlier ones
_NAMED_FAILURE_TURNS = 0.7  # share of the turns that are used, for every role


class CreditedTurn(NamedTuple):
    """A turn, and the counterfactual return of each label on its menu."""

    chat: Chat
    returns: Mapping[str, float]
    role: Role
    pack: str
    tier: Tier
    follow_ups: Mapping[str, FollowUp] = {}
    prompt: Sequence[int] = ()  # the chat as tokens


class FollowUp(NamedTuple):
    """What comes after an action whose return depends on the role that reads its result: the
    reward until that role's next turn, and that turn, unless the episode ends before."""

    reward: float
    turn: CreditedTurn | None


def scenario_of(recipe: Recipe, index: int, progress: float) -> Scenario:
    """The scenario of one episode. ``progress`` (0 to 1) chooses the tier if the tiers come in
    order."""
    dice = Dice(key_of("training scenario", recipe.seed, index))
    stages = read_curriculum(recipe.curriculum)
    draw = dice.unit() if recipe.shuffle_tiers else min(progress, 0.999_999)
    ends = list(accumulate(share for _, share in stages))
    tier = stages[bisect_right(ends, draw * ends[-1])][0]
    seed = seed_of(recipe.first_seed, index)
    if dice.unit() < recipe.classic_share:
        return make_scenario(dice.pick(load_pack(DEFAULT_PACK).drawn), tier=tier, seed=seed)
    return make_scenario(split=recipe.split, tier=tier, seed=seed)


def credited_turns(recipe: Recipe, index: int, progress: float = 0.0) -> list[CreditedTurn]:
    """The turns of one episode, played by the behaviour policy."""
    dice = Dice(key_of("training play", recipe.seed, index))
    scenario = scenario_of(recipe, index, progress)
    shares = read_role_shares(recipe.role_shares)
    oracle = load_team("oracle")
    env = Env(scenario, standard(multiplier_at(recipe, progress)))
    rollout = Rollout(env, oracle)
    behaviour = Behaviour(dice)
    turns = []
    for _ in range(TURNS):
        if env.over:
            break
        choices = menu(env.view)
        share = _NAMED_FAILURE_TURNS if scenario.failure else shares[env.role]
        if dice.unit() < share:
            turn = credit_turn(env, choices, oracle, recipe)
            if turn is not None:
                turns.append(turn)
        behaviour.play(rollout, list(choices.values()))
    return turns


def credit_turn(
    env: Env, choices: dict[str, Action], continuation: Team, recipe: Recipe
) -> CreditedTurn | None:
    """None where all actions have the same return: there is nothing to learn."""
    if recipe.continuation == "none":
        returns = {label: _step_reward(env, action) for label, action in choices.items()}
    else:
        returns = counterfactual_returns(env, choices, continuation)
    follow_ups = {}
    if recipe.continuation == "lookahead":
        follow_ups = follow_ups_of(env, choices, continuation)
    later = [follow_up.turn.returns for follow_up in follow_ups.values() if follow_up.turn]
    if all(len(set(each.values())) == 1 for each in (returns, *later)):
        return None
    return _turn(env, returns, follow_ups)


def follow_ups_of(env: Env, choices: dict[str, Action], continuation: Team) -> dict[str, FollowUp]:
    """The actions whose return depends on a later turn: an audit, on Oversight's next turn; a
    message of the SRE, on the Developer's, who in some packs cannot name causes."""
    if env.role is Role.OVERSIGHT:
        audits = {label: a for label, a in choices.items() if isinstance(a, Audit)}
        return {
            label: _follow_up(env, a, continuation, Role.OVERSIGHT) for label, a in audits.items()
        }
    finds_out_alone = env.view.rules.may(Role.DEV, "identify_root_cause")
    if env.role is not Role.SRE or finds_out_alone:
        return {}
    follow_ups = {}
    returns: Mapping[str, float] | None = None
    for label, action in choices.items():
        follow_ups[label] = found = _follow_up(env, action, continuation, Role.DEV, returns)
        if found.turn:
            # A message changes what the Developer reads, not the return of any repair.
            returns = found.turn.returns
    return follow_ups


def _follow_up(
    env: Env,
    action: Action,
    continuation: Team,
    reader: Role,
    returns: Mapping[str, float] | None = None,
) -> FollowUp:
    fork = env.fork()
    rollout = Rollout(fork, continuation)
    reward = fork.play(Decision(action)).score.total
    while not fork.over and fork.role is not reader:
        advance([rollout])
    reward += rollout.episode.reward
    if fork.over:
        return FollowUp(reward, None)
    returns = returns or counterfactual_returns(fork, menu(fork.view), continuation)
    return FollowUp(reward, _turn(fork, returns, {}))


def _turn(
    env: Env, returns: Mapping[str, float], follow_ups: Mapping[str, FollowUp]
) -> CreditedTurn:
    view, scenario = env.view, env.scenario
    chat = tuple(render(view, Style.MENU))
    return CreditedTurn(chat, returns, view.role, scenario.pack, scenario.tier, follow_ups)


def _step_reward(env: Env, action: Action) -> float:
    return env.fork().play(Decision(action)).score.total
