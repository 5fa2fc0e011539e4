"""Reward functions for TRL: one for each rubric, and some for the log only.

TRL adds up the rewards and logs the mean of every function under its name. Functions of weight
0 are only logged, and only for replies that the model drew itself: the reward, also of each role,
and the shares of readable replies and of noop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chaosops.core.vocabulary import Role
from chaosops.rubrics import standard
from chaosops.training.recipe import Recipe
from chaosops.training.single_turns import Judge, Judged, TurnKey, idle_reward

RUBRICS = tuple(rubric.name for rubric in standard().rubrics)
READABLE = "readable"
NOOP = "noop"
OWN = "own"
IDLE = "idle"
ROLE = "role_{}"

_Points = Callable[[Judged], float | None]


class Reward:
    """A reward function as TRL calls it: with replies and the columns of their rows."""

    def __init__(self, name: str, weight: float, judge: Judge, points: _Points) -> None:
        self.__name__ = name
        self.weight = weight
        self._judge = judge
        self._points = points

    def __call__(
        self,
        completions: Sequence[Sequence[dict[str, str]]],
        episode: Sequence[int],
        turn: Sequence[int],
        progress: Sequence[float],
        own: Sequence[bool] | None = None,
        **_: Any,
    ) -> list[float | None]:
        keys = map(TurnKey, episode, turn, progress)
        replies = [completion[0]["content"] for completion in completions]
        own = own or [True] * len(replies)
        return [
            self._points(self._judge(key, reply)) if self.weight or drawn else None
            for key, reply, drawn in zip(keys, replies, own, strict=True)
        ]


def rewards_of(recipe: Recipe, judge: Judge | None = None) -> list[Reward]:
    judge = judge or Judge(recipe)
    idle = Reward(IDLE, 1.0, judge, lambda judged: idle_reward(recipe, judged.action))
    return [
        *(Reward(name, 1.0, judge, _rubric(name)) for name in RUBRICS),
        *([idle] if recipe.idle_reward else []),
        Reward(OWN, 0.0, judge, lambda judged: sum(judged.rubrics.values())),
        *(Reward(ROLE.format(role), 0.0, judge, _of_role(role)) for role in Role),
        Reward(READABLE, 0.0, judge, lambda judged: float(judged.action.verb != "unreadable")),
        Reward(NOOP, 0.0, judge, lambda judged: float(judged.action.verb == "noop")),
    ]


def _rubric(name: str) -> _Points:
    return lambda judged: judged.rubrics[name]


def _of_role(role: Role) -> _Points:
    """None leaves out a reply of another role."""
    return lambda judged: sum(judged.rubrics.values()) if judged.role is role else None
