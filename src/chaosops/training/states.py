"""Where training learns: turns of noisy episodes, each with what every action was worth.

Episode ``index`` of a recipe is a pure function of the two, so the stream of states can be
computed by any number of processes and taken up again anywhere.
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

TURNS = 14  # of an episode: later ones repeat what came before
_CLASSIC_TURNS = 0.7  # of every role


class State(NamedTuple):
    """A turn: the prompt, and for each label on its menu the points it was worth."""

    chat: Chat
    gains: Mapping[str, float]
    role: Role
    pack: str
    tier: Tier
    looks: Mapping[str, Look] = {}
    prompt: Sequence[int] = ()  # the chat as tokens, once a learner has read it


class Look(NamedTuple):
    """The points until the turn of whoever reads what was found or said, and that turn, if it
    comes."""

    before: float
    then: State | None


def scenario_of(recipe: Recipe, index: int, progress: float) -> Scenario:
    """``progress`` through the run, 0 to 1, chooses the tier of an ordered curriculum."""
    dice = Dice(key_of("training scenario", recipe.seed, index))
    stages = read_curriculum(recipe.curriculum)
    draw = dice.unit() if recipe.shuffle_tiers else min(progress, 0.999_999)
    ends = list(accumulate(share for _, share in stages))
    tier = stages[bisect_right(ends, draw * ends[-1])][0]
    seed = seed_of(recipe.first_seed, index)
    if dice.unit() < recipe.classic_share:
        return make_scenario(dice.pick(load_pack(DEFAULT_PACK).drawn), tier=tier, seed=seed)
    return make_scenario(split=recipe.split, tier=tier, seed=seed)


def states_of(recipe: Recipe, index: int, progress: float = 0.0) -> list[State]:
    """The states of one noisy episode."""
    dice = Dice(key_of("training play", recipe.seed, index))
    scenario = scenario_of(recipe, index, progress)
    shares = read_role_shares(recipe.role_shares)
    oracle = load_team("oracle")
    env = Env(scenario, standard(multiplier_at(recipe, progress)))
    rollout = Rollout(env, oracle)
    behaviour = Behaviour(dice)
    states = []
    for _ in range(TURNS):
        if env.over:
            break
        choices = menu(env.view)
        share = _CLASSIC_TURNS if scenario.pack == DEFAULT_PACK else shares[env.role]
        if dice.unit() < share:
            state = state_at(env, choices, oracle, recipe)
            if state is not None:
                states.append(state)
        behaviour.play(rollout, list(choices.values()))
    return states


def state_at(
    env: Env, choices: dict[str, Action], continuation: Team, recipe: Recipe
) -> State | None:
    """None where every action is worth the same: there is nothing to learn."""
    if recipe.continuation == "none":
        returns = {label: _step_alone(env, action) for label, action in choices.items()}
    else:
        returns = counterfactual_returns(env, choices, continuation)
    looks = later_turns(env, choices, continuation) if recipe.continuation == "lookahead" else {}
    read = [look.then for look in looks.values() if look.then]
    if all(len(set(gains.values())) == 1 for gains in (returns, *(turn.gains for turn in read))):
        return None
    return _state(env, returns, looks)


def later_turns(env: Env, choices: dict[str, Action], continuation: Team) -> dict[str, Look]:
    """Actions that are worth what somebody makes of them: an audit, what Oversight does on its
    next turn; what the SRE says, what the Developer does on its own."""
    if env.role is Role.OVERSIGHT:
        audits = {label: a for label, a in choices.items() if isinstance(a, Audit)}
        return {label: _later(env, a, continuation, Role.OVERSIGHT) for label, a in audits.items()}
    if env.role is not Role.SRE or not env.view.rules.is_company:
        return {}
    looks = {}
    gains: Mapping[str, float] | None = None
    for label, action in choices.items():
        looks[label] = look = _later(env, action, continuation, Role.DEV, gains)
        if look.then:
            # Words change what is read, not what any repair is worth.
            gains = look.then.gains
    return looks


def _later(
    env: Env,
    action: Action,
    continuation: Team,
    reader: Role,
    gains: Mapping[str, float] | None = None,
) -> Look:
    fork = env.fork()
    rollout = Rollout(fork, continuation)
    before = fork.play(Decision(action)).score.total
    while not fork.over and fork.role is not reader:
        advance([rollout])
    before += rollout.episode.reward
    if fork.over:
        return Look(before, None)
    gains = gains or counterfactual_returns(fork, menu(fork.view), continuation)
    return Look(before, _state(fork, gains, {}))


def _state(env: Env, gains: Mapping[str, float], looks: Mapping[str, Look]) -> State:
    view = env.view
    chat = tuple(render(view, Style.MENU))
    return State(chat, gains, view.role, env.scenario.pack, env.scenario.tier, looks)


def _step_alone(env: Env, action: Action) -> float:
    return env.fork().play(Decision(action)).score.total
