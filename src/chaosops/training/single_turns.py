"""What method ``trl`` learns from: single turns of episodes as prompts, and rewards for replies.

Three numbers identify a turn. With them its world is played again to score a reply. So a data
set of turns does not hold the truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate, count, groupby
from typing import NamedTuple

from chaosops.core.actions import Action, Noop
from chaosops.core.decision import Chat
from chaosops.core.dice import Dice, key_of
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.policies.llm.formats import load_format
from chaosops.training.continuation import Continuation
from chaosops.training.credited_turns import act, counterfactual_returns, play_on, turn_envs
from chaosops.training.recipe import Recipe, read_curriculum, read_role_shares
from chaosops.training.seeds import PROBE_EPISODES

_MOST_WITHOUT_TURNS = 1_000  # episodes without a turn before the recipe is refused


class TurnKey(NamedTuple):
    """The episode of the recipe, the turn in it from 0, and the progress of the run, 0 to 1, at
    which the turn comes up."""

    episode: int
    turn: int
    progress: float


class Judged(NamedTuple):
    """The action read from a reply, and its reward by rubric."""

    action: Action
    rubrics: Mapping[str, float]
    role: Role


class Prompt(NamedTuple):
    key: TurnKey
    chat: Chat
    role: Role
    tier: Tier
    replies: Mapping[str, Judged] = {}  # every legal reply, if judged ahead of time


class Judge:
    """Judges the replies of a run. What was judged ahead of time is looked up."""

    def __init__(self, recipe: Recipe, prompts: Iterable[Prompt] = ()) -> None:
        self._recipe = recipe
        self._ahead = {prompt.key: prompt.replies for prompt in prompts if prompt.replies}
        # Every reward function asks for every reply, and replies of a group are often equal.
        self._found = lru_cache(maxsize=16_384)(self._judged)

    def __call__(self, key: TurnKey, reply: str) -> Judged:
        return self._found(key, reply)

    def _judged(self, key: TurnKey, reply: str) -> Judged:
        return self._ahead.get(key, {}).get(reply) or judge(self._recipe, key, reply)

    def rewards(self, key: TurnKey) -> Mapping[str, float]:
        """Every legal reply, word for word, and its reward."""
        if not (ahead := self._ahead.get(key)):
            return legal_replies(self._recipe, key)
        return {
            reply: sum(judged.rubrics.values()) + idle_reward(self._recipe, judged.action)
            for reply, judged in ahead.items()
        }


def prompts_of(recipe: Recipe) -> list[Prompt]:
    """Every prompt of a run, in the order in which they are answered."""
    wanted = -(-recipe.steps // recipe.reuse) * recipe.prompts_per_step
    found: list[Prompt] = []
    for episode in count():
        if len(found) >= wanted or (recipe.episodes and episode == recipe.episodes):
            break
        if episode == _MOST_WITHOUT_TURNS and not found:
            raise BadInput(
                f"role_shares {recipe.role_shares!r} leave no turn to learn from; raise one"
            )
        progress = len(found) / wanted
        if recipe.episodes:
            progress = max(progress, episode / recipe.episodes)
        room = max(1, round((_stage_end(recipe, progress) - progress) * wanted))
        found += _chosen(recipe, episode, progress)[:room]
    if len(found) < recipe.prompts_per_step:
        raise BadInput(
            f"{recipe.episodes} episodes have {len(found)} turns to learn from, less than one "
            f"step takes ({recipe.prompts_per_step}): raise episodes, or lower prompts_per_step"
        )
    return list(_mixed(recipe, found))


def _stage_end(recipe: Recipe, progress: float) -> float:
    """The progress of the run at which the next tier of an ordered curriculum begins."""
    if recipe.shuffle_tiers:
        return 1.0
    ends = list(accumulate(share for _, share in read_curriculum(recipe.curriculum)))
    return next((end / ends[-1] for end in ends if end / ends[-1] > progress), 1.0)


def probes_of(recipe: Recipe, number: int) -> list[Prompt]:
    """Fixed turns that are never trained on."""
    found = [prompt for episode in PROBE_EPISODES for prompt in _chosen(recipe, episode, 0.0)]
    return found[:number]


def judge(recipe: Recipe, key: TurnKey, reply: str) -> Judged:
    """Read the reply and act in a fork of the world at that turn."""
    env = _envs(recipe, key.episode, key.progress)[key.turn]
    action = load_format(recipe.reply_format).read(env.view, reply)
    return Judged(action, _rewards(recipe, key, action), env.role)


def labels_of(recipe: Recipe, key: TurnKey) -> list[str]:
    """The labels on the menu of a turn."""
    env = _envs(recipe, key.episode, key.progress)[key.turn]
    return list(load_format("menu").replies(env.view))


def judged_ahead(recipe: Recipe, prompt: Prompt) -> Prompt:
    """The prompt with all its legal replies judged. It can be computed in another process."""
    legal = legal_replies(recipe, prompt.key)
    return prompt._replace(replies={reply: judge(recipe, prompt.key, reply) for reply in legal})


@lru_cache(maxsize=1024)
def legal_replies(recipe: Recipe, key: TurnKey) -> Mapping[str, float]:
    """Every legal reply, word for word, and its reward."""
    env = _envs(recipe, key.episode, key.progress)[key.turn]
    replies = load_format(recipe.reply_format).replies(env.view)
    returns = _returns(recipe, env)
    return {reply: returns[reply] + idle_reward(recipe, replies[reply]) for reply in replies}


def _returns(recipe: Recipe, env: Env) -> Mapping[str, float]:
    rest = Continuation() if recipe.continuation == "oracle" else None
    return counterfactual_returns(env, load_format(recipe.reply_format).replies(env.view), rest)


def idle_reward(recipe: Recipe, action: Action) -> float:
    return recipe.idle_reward if isinstance(action, Noop) else 0.0


def _chosen(recipe: Recipe, episode: int, progress: float) -> list[Prompt]:
    dice = Dice(key_of("single turns", recipe.seed, episode))
    shares = read_role_shares(recipe.role_shares)
    reply_format = load_format(recipe.reply_format)
    return [
        Prompt(
            TurnKey(episode, turn, progress),
            reply_format.messages(env.view),
            env.role,
            env.scenario.tier,
        )
        for turn, env in enumerate(_envs(recipe, episode, progress))
        if dice.unit() < shares[env.role]
        and not (recipe.skip_equal and len(set(_returns(recipe, env).values())) == 1)
    ]


def _mixed(recipe: Recipe, prompts: list[Prompt]) -> Iterator[Prompt]:
    """Shuffle the turns of each window, but not across the tiers of an ordered curriculum."""
    dice = Dice(key_of("single turns order", recipe.seed))

    def block(prompt: Prompt) -> tuple[int, Tier | None]:
        stage = None if recipe.shuffle_tiers else prompt.tier
        return prompt.key.episode // recipe.window, stage

    for _, some in groupby(prompts, key=block):
        yield from dice.shuffled(list(some))


@lru_cache(maxsize=1024)
def _envs(recipe: Recipe, episode: int, progress: float) -> tuple[Env, ...]:
    """The world at each turn of an episode."""
    dice = Dice(key_of("single turns play", recipe.seed, episode))
    return tuple(env.fork() for env in turn_envs(recipe, episode, progress, dice))


# Replies of a group are often equal.
@lru_cache(maxsize=16_384)
def _rewards(recipe: Recipe, key: TurnKey, action: Action) -> Mapping[str, float]:
    rollout = act(_envs(recipe, key.episode, key.progress)[key.turn], action)
    if recipe.continuation == "oracle":
        play_on(rollout)
    return rollout.episode.rubric_totals
