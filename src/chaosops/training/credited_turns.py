"""What method ``menu`` learns from: turns of episodes, each with the counterfactual return of
every action.

The turns of episode ``index`` depend on the recipe and the index only. So any number of
processes can compute them, and a run can resume anywhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from chaosops.core.actions import Action, Audit, IdentifyRootCause, Talk
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
from chaosops.training.recipe import Recipe, multiplier_at, read_curriculum, read_role_shares
from chaosops.training.seeds import seed_of

_TURNS = 14  # per episode: later turns repeat the earlier ones
_NAMED_FAILURE_TURNS = 0.7  # the share of turns that are used, for every role


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


def turn_envs(recipe: Recipe, index: int, progress: float, dice: Dice) -> Iterator[Env]:
    """The world at each turn of one episode. The behaviour policy, or the oracle, plays it."""
    env = Env(scenario_of(recipe, index, progress), standard(multiplier_at(recipe, progress)))
    rollout = Rollout(env, _oracle())
    behaviour = Behaviour(dice)
    for _ in range(_TURNS):
        if env.over:
            return
        yield env
        if recipe.prefixes == "oracle":
            advance([rollout])
        else:
            behaviour.play(rollout)


def credited_turns(recipe: Recipe, index: int, progress: float = 0.0) -> list[CreditedTurn]:
    """The turns of one episode, without those whose actions all have the same return."""
    dice = Dice(key_of("training play", recipe.seed, index))
    shares = read_role_shares(recipe.role_shares)
    turns = []
    for env in turn_envs(recipe, index, progress, dice):
        share = _NAMED_FAILURE_TURNS if env.scenario.failure else shares[env.role]
        if dice.unit() < share and (turn := _credited(env, recipe)):
            turns.append(turn)
    return turns


def _credited(env: Env, recipe: Recipe) -> CreditedTurn | None:
    """None if all actions have the same return: then there is nothing to learn."""
    choices = menu(env.view)
    if recipe.continuation == "none":
        returns = {label: act(env, action).episode.reward for label, action in choices.items()}
    else:
        returns = counterfactual_returns(env, choices)
    follow_ups = _follow_ups(env, choices) if recipe.continuation == "lookahead" else {}
    later = [follow_up.turn.returns for follow_up in follow_ups.values() if follow_up.turn]
    if all(len(set(each.values())) == 1 for each in (returns, *later)):
        return None
    return _turn(env, returns, follow_ups)


def counterfactual_returns(env: Env, choices: Mapping[str, Action]) -> dict[str, float]:
    """Label -> the counterfactual return of its action, with the oracle as continuation.

    Messages change only the chat, which the oracle ignores. So one is played for all of them.
    """
    played: dict[object, float] = {}
    returns = {}
    for label, action in choices.items():
        is_message = isinstance(action, Talk) and not isinstance(action, IdentifyRootCause)
        kind = Talk if is_message else action
        if kind not in played:
            played[kind] = play_on(act(env, action)).episode.reward
        returns[label] = played[kind]
    return returns


def act(env: Env, action: Action) -> Rollout:
    """Act in a fork of the world."""
    rollout = Rollout(env.fork(), _oracle())
    rollout.episode.turns.append(rollout.env.play(Decision(action)))
    return rollout


def play_on(rollout: Rollout, until: Role | None = None) -> Rollout:
    """The oracle plays to the end of the episode, or to the next turn of a role."""
    while not rollout.env.over and rollout.env.role is not until:
        advance([rollout])
    return rollout


@cache
def _oracle() -> Team:
    return load_team("oracle")


def _follow_ups(env: Env, choices: Mapping[str, Action]) -> dict[str, FollowUp]:
    """The actions whose return depends on a later turn: an audit, on Oversight's next turn; a
    message of the SRE, on the Developer's, who in some packs cannot name causes."""
    if env.role is Role.OVERSIGHT:
        audits = {label: a for label, a in choices.items() if isinstance(a, Audit)}
        return {label: _follow_up(env, a, Role.OVERSIGHT) for label, a in audits.items()}
    finds_out_alone = env.view.rules.may(Role.DEV, "identify_root_cause")
    if env.role is not Role.SRE or finds_out_alone:
        return {}
    follow_ups = {}
    returns: Mapping[str, float] | None = None
    for label, action in choices.items():
        follow_ups[label] = found = _follow_up(env, action, Role.DEV, returns)
        if found.turn:
            # A message changes what the Developer reads, not the return of any repair.
            returns = found.turn.returns
    return follow_ups


def _follow_up(
    env: Env, action: Action, reader: Role, returns: Mapping[str, float] | None = None
) -> FollowUp:
    rollout = play_on(act(env, action), until=reader)
    first, *others = (turn.score.total for turn in rollout.episode.turns)
    reward = first + sum(others)
    if rollout.env.over:
        return FollowUp(reward, None)
    returns = returns or counterfactual_returns(rollout.env, menu(rollout.env.view))
    return FollowUp(reward, _turn(rollout.env, returns, {}))


def _turn(
    env: Env, returns: Mapping[str, float], follow_ups: Mapping[str, FollowUp]
) -> CreditedTurn:
    view, scenario = env.view, env.scenario
    chat = tuple(render(view, Style.MENU))
    return CreditedTurn(chat, returns, view.role, scenario.pack, scenario.tier, follow_ups)
