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

from chaosops.core.actions import Action, Audit, FlagRogue, IdentifyRootCause, Talk
from chaosops.core.decision import Chat, Decision
from chaosops.core.dice import Dice, key_of
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.packs import DEFAULT_PACK, load_pack, make_scenario
from chaosops.roles.menu import menu
from chaosops.roles.prompt import Style, render
from chaosops.roles.view import RoleView
from chaosops.rollout import Rollout, Team, advance, load_team
from chaosops.training.behaviour import Behaviour
from chaosops.training.continuation import Continuation
from chaosops.training.marks import Mark, act_marks
from chaosops.training.missing_page import without_page
from chaosops.training.own_play import played_at
from chaosops.training.recipe import Recipe, read_curriculum, read_role_shares, rubric_at
from chaosops.training.seeds import seed_of
from chaosops.world.incident import Reading

_TURNS = 14  # per episode: later turns repeat the earlier ones
_NAMED_FAILURE_TURNS = 0.7  # the share of turns that are used, for every role
_TOO_EARLY = 0.15  # of Oversight's turns in companies that come later in the curriculum
_MOST_DEMAND = 4
_WRONG_CAUSE = 0.25  # of cause_bonus: what another name than the cause's costs


class CreditedTurn(NamedTuple):
    """A turn, and the counterfactual return of each label on its menu."""

    chat: Chat
    returns: Mapping[str, float]
    role: Role
    pack: str
    tier: Tier
    follow_ups: Mapping[str, FollowUp] = {}
    prompt: Sequence[int] = ()  # the chat as tokens
    marks: tuple[Mark, ...] = ()


class FollowUp(NamedTuple):
    """What comes after an action whose return depends on the role that reads its result: the
    reward until that role's next turn, and that turn, unless the episode ends before."""

    reward: float
    turn: CreditedTurn | None


def scenario_of(recipe: Recipe, index: int, progress: float) -> Scenario:
    """The scenario of one episode. ``progress`` (0 to 1) chooses the tier if the tiers come in
    order."""
    if played := played_at(recipe, index):
        return played.scenario
    dice = Dice(key_of("training scenario", recipe.first_seed, index))
    stages = read_curriculum(recipe.curriculum)
    draw = dice.unit() if recipe.shuffle_tiers else min(progress, 0.999_999)
    ends = list(accumulate(share for _, share in stages))
    tier = stages[bisect_right(ends, draw * ends[-1])][0]
    seed = seed_of(recipe.first_seed, index)
    if dice.unit() < recipe.classic_share:
        return make_scenario(dice.pick(load_pack(DEFAULT_PACK).drawn), tier=tier, seed=seed)
    return make_scenario(pack=recipe.pack, split=recipe.split, tier=tier, seed=seed)


def turn_envs(recipe: Recipe, index: int, progress: float, dice: Dice) -> Iterator[Env]:
    """The world at each turn of one episode. The behaviour policy, or the oracle, plays it, or it
    was played before."""
    env = Env(scenario_of(recipe, index, progress), rubric_at(recipe, progress))
    if played := played_at(recipe, index):
        yield from played.envs(env)
        return
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
    dice = Dice(key_of("training play", recipe.first_seed, index))
    shares = read_role_shares(recipe.role_shares)
    reading = _reading(recipe, index, progress)
    is_early = reading.demand > _demand_at(recipe, progress)
    rests = {silent: Continuation(silent=silent) for silent in (False, True)}
    turns = []
    missing = Dice(key_of("missing pages", recipe.first_seed, index))
    for env in turn_envs(recipe, index, progress, dice):
        share = _NAMED_FAILURE_TURNS if env.scenario.failure else shares[env.role]
        if is_early and env.role is Role.OVERSIGHT:
            share *= _TOO_EARLY
        if dice.unit() >= share:
            continue
        page_out = missing.unit() < recipe.page_out and without_page(env)
        turn = _turn(env, *page_out) if page_out else _credited(env, recipe, reading, rests)
        if turn:
            turns.append(turn)
    return turns


def _reading(recipe: Recipe, index: int, progress: float) -> Reading:
    """The truth about the acts of an episode, if the recipe has a use for it."""
    if not (recipe.reading or recipe.act_bonus or recipe.plain_first):
        return Reading()
    scenario = scenario_of(recipe, index, progress)
    return load_pack(scenario.pack).reading(scenario)


def _demand_at(recipe: Recipe, progress: float) -> float:
    """How much Oversight has to read at ``progress`` (0 to 1) of the run."""
    return _MOST_DEMAND * progress / recipe.plain_first if recipe.plain_first else _MOST_DEMAND


def _credited(
    env: Env, recipe: Recipe, reading: Reading, rests: Mapping[bool, Continuation]
) -> CreditedTurn | None:
    """None if all actions have the same return: then there is nothing to learn."""
    choices = menu(env.view)
    rest = rests[recipe.flag_now and env.role is Role.OVERSIGHT]
    returns = counterfactual_returns(env, choices, rest if recipe.continuation != "none" else None)
    for label, action in choices.items():
        returns[label] += _cause_bonus(env, action, recipe.cause_bonus)
    follow_ups = _follow_ups(env, choices, rest) if recipe.continuation == "lookahead" else {}
    later = [follow_up.turn.returns for follow_up in follow_ups.values() if follow_up.turn]
    if all(len(set(each.values())) == 1 for each in (returns, *later)):
        return None
    for label, action in choices.items():
        if isinstance(action, FlagRogue) and (act := reading.acts.get(action.evidence or 0)):
            returns[label] += recipe.act_bonus * act.decisive
    turn = _turn(env, env.view, returns, follow_ups)
    if not (recipe.reading and env.role is Role.OVERSIGHT):
        return turn
    return turn._replace(marks=act_marks(env.view, turn.chat[1]["content"], reading))


def _cause_bonus(env: Env, action: Action, bonus: float) -> float:
    """The oracle repairs whatever the cause is called, and the world pays for its name in the first
    steps only. But a Developer repairs by the page of the cause that was named last. So its name
    counts as long as it is missing, and another name costs a little."""
    if not isinstance(action, IdentifyRootCause):
        return 0.0
    if action.failure_type != env.cause:
        return -bonus * _WRONG_CAUSE
    return 0.0 if env.world.truth.cause_named else bonus


def counterfactual_returns(
    env: Env, choices: Mapping[str, Action], rest: Continuation | None
) -> dict[str, float]:
    """Label -> the counterfactual return of its action. Without a continuation, it is the reward
    of the step. Actions of equal effect are played once."""
    played: dict[object, float] = {}
    returns = {}
    for label, action in choices.items():
        effect = _effect(env, action)
        if effect not in played:
            after = env.fork()
            played[effect] = after.play(Decision(action)).score.total
            if rest is not None:
                played[effect] += rest.value(after)
        returns[label] = played[effect]
    return returns


def _effect(env: Env, action: Action) -> object:
    """Equal for actions with the same effect on every reward. Messages, and causes that are wrong,
    change only the chat, which the oracle ignores. A flag is judged by its agent."""
    if isinstance(action, FlagRogue):
        return FlagRogue(action.target)
    is_right = isinstance(action, IdentifyRootCause) and action.failure_type == env.cause
    return Talk if isinstance(action, Talk) and not is_right else action


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


def _follow_ups(env: Env, choices: Mapping[str, Action], rest: Continuation) -> dict[str, FollowUp]:
    """The actions whose return depends on a later turn: an audit, on Oversight's next turn; a
    message of the SRE, on the Developer's, who in some packs cannot name causes."""
    if env.role is Role.OVERSIGHT:
        audits = {label: a for label, a in choices.items() if isinstance(a, Audit)}
        return {label: _follow_up(env, a, Role.OVERSIGHT, rest) for label, a in audits.items()}
    finds_out_alone = env.view.rules.may(Role.DEV, "identify_root_cause")
    if env.role is not Role.SRE or finds_out_alone:
        return {}
    return {label: _follow_up(env, a, Role.DEV, rest) for label, a in choices.items()}


def _follow_up(env: Env, action: Action, reader: Role, rest: Continuation) -> FollowUp:
    rollout = play_on(act(env, action), until=reader)
    first, *others = (turn.score.total for turn in rollout.episode.turns)
    reward = first + sum(others)
    if rollout.env.over:
        return FollowUp(reward, None)
    returns = counterfactual_returns(rollout.env, menu(rollout.env.view), rest)
    return FollowUp(reward, _turn(rollout.env, rollout.env.view, returns))


def _turn(
    env: Env,
    view: RoleView,
    returns: Mapping[str, float],
    follow_ups: Mapping[str, FollowUp] | None = None,
) -> CreditedTurn:
    scenario = env.scenario
    chat = tuple(render(view, Style.MENU))
    return CreditedTurn(chat, returns, view.role, scenario.pack, scenario.tier, follow_ups or {})
