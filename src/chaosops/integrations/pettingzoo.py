"""An incident as a PettingZoo environment: the four roles are agents that take turns (AEC).

>>> from chaosops.integrations.pettingzoo import env
>>> incident = env(split="train", tier="easy")
>>> incident.reset(seed=1)
>>> incident.agent_selection
'sre'
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from chaosops.core.dice import Dice, key_of
from chaosops.core.errors import BadInput, MissingExtra, UnknownName
from chaosops.core.given import whole_number
from chaosops.core.labels import LABELS
from chaosops.core.printable import short
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import FRESH_SEEDS, make_scenario
from chaosops.roles.menu import menu
from chaosops.roles.parse import MAX_REPLY_CHARS
from chaosops.roles.prompt import Style, render
from chaosops.roles.view import RoleView, project
from chaosops.rubrics import CompositeRubric

try:
    import numpy as np
    import pettingzoo
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError as error:
    raise MissingExtra("the PettingZoo environment", str(error.name), "pettingzoo") from None

NAME = "chaosops/incident_v0"
_STYLES = (Style.MENU, Style.JSON)
_MOST_CHARS = 1_000_000
_PLACES = {label: place for place, label in enumerate(LABELS)}


class AnyText(spaces.Text):  # type: ignore[misc]
    """Text of any characters. Gymnasium's own space checks each of them against a list."""

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length


class _Options(NamedTuple):
    failure: str | None
    tier: str | None
    limit: int | None
    pack: str | None
    split: str | None
    mechanisms: str | Path


class IncidentEnv(AECEnv):  # type: ignore[misc]
    """One incident after the other. ``reset(seed=N)`` starts incident N; without a seed the next
    one is drawn.

    An observation is the prompt of a model in this role, and nothing else: ``system`` is the
    constant part and ``user`` the rest. With ``replies="menu"`` an action is the number of a label
    in ``chaosops.core.labels.LABELS``, and ``action_mask`` marks those on the menu. With
    ``replies="json"`` an action is the text of a reply.

    The reward of a step goes to all four agents.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "chaosops_incident_v0",
        "render_modes": ["human", "ansi"],
        "is_parallelizable": False,
    }

    def __init__(
        self,
        *,
        failure: str | None = None,
        tier: str | None = None,
        limit: int | None = None,
        pack: str | None = None,
        split: str | None = None,
        mechanisms: str | Path = "",
        replies: str = "menu",
        rubric: CompositeRubric | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        if replies not in _STYLES:
            raise UnknownName("form of replies", replies, _STYLES)
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UnknownName("render mode", str(render_mode), self.metadata["render_modes"])
        self._options = _Options(failure, tier, limit, pack, split, mechanisms)
        make_scenario(**self._options._asdict(), seed=0, fresh=True)  # so that a wrong name ends it
        self._style = Style(replies)
        self._rubric = rubric
        self._key = key_of("pettingzoo", secrets.randbits(63))
        self._drawn = 0
        self._env: Env | None = None
        self.render_mode = render_mode
        self.possible_agents = [role.value for role in Role]
        self.agents: list[str] = []
        # The same objects at every call, because a learner seeds them.
        self.observation_spaces = {agent: self._observed() for agent in self.possible_agents}
        self.action_spaces = {agent: self._acting() for agent in self.possible_agents}

    def _observed(self) -> Any:
        parts = {
            "system": AnyText(_MOST_CHARS, min_length=0),
            "user": AnyText(_MOST_CHARS, min_length=0),
        }
        if self._style is Style.MENU:
            parts["action_mask"] = spaces.Box(0, 1, (len(LABELS),), np.int8)
        return spaces.Dict(parts)

    def _acting(self) -> Any:
        if self._style is Style.MENU:
            return spaces.Discrete(len(LABELS))
        return AnyText(MAX_REPLY_CHARS, min_length=0)

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[_role(agent).value]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[_role(agent).value]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """``options`` has no effect."""
        if seed is not None:
            seed = whole_number("seed", seed, least=0)
            self._key, self._drawn = key_of("pettingzoo", seed), 0
        else:
            self._drawn += 1
            seed = Dice(key_of(self._key, self._drawn)).below(FRESH_SEEDS)
        scenario = make_scenario(**self._options._asdict(), seed=seed, fresh=True)
        self._env = Env(scenario, self._rubric)
        self.agents = list(self.possible_agents)
        self.agent_selection = self._env.role.value
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None

    @property
    def _playing(self) -> Env:
        if self._env is None:
            raise BadInput("call reset() before the first step")
        return self._env

    def observe(self, agent: str) -> dict[str, Any]:
        """What this role sees now, whoever is on turn."""
        view = project(self._playing.world.public, _role(agent))
        system, user = render(view, self._style)
        seen: dict[str, Any] = {"system": system["content"], "user": user["content"]}
        if self._style is Style.MENU:
            seen["action_mask"] = _mask(view)
        return seen

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        env = self._playing
        told = env.step(self._reply(env.view, action))
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, told.reward)
        self.terminations = dict.fromkeys(self.agents, told.terminated)
        self.truncations = dict.fromkeys(self.agents, told.truncated)
        # The score of an action tells the others what it did, so only its agent gets it.
        self.infos = {each: told.info if each == agent else {} for each in self.agents}
        self.agent_selection = env.role.value
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _reply(self, view: RoleView, action: Any) -> Any:
        if self._style is Style.JSON:
            if not isinstance(action, str):
                raise BadInput(f"an action must be the text of a reply, got {short(action)}")
            return action
        choices = menu(view)
        place = whole_number("an action", action, least=0)
        label = LABELS[place] if place < len(LABELS) else ""
        if label not in choices:
            raise BadInput(
                f"action {place} is not on the menu of {view.role}; "
                "choose one that the observation's action_mask marks with 1"
            )
        return choices[label]

    def render(self) -> str | None:
        """What the role on turn sees."""
        if self.render_mode is None:
            return None
        text = self.observe(self._playing.role.value)["user"]
        shown = f"{self._playing.role.value}: {text}\n"
        if self.render_mode == "ansi":
            return shown
        print(shown)
        return None

    def close(self) -> None:
        self._env = None


def _role(agent: str) -> Role:
    if agent not in list(Role):
        raise UnknownName("agent", agent, list(Role))
    return Role(agent)


def _mask(view: RoleView) -> np.ndarray[Any, np.dtype[np.int8]]:
    mask = np.zeros(len(LABELS), dtype=np.int8)
    for label in menu(view):
        if label not in _PLACES:
            raise BadInput(f"a menu of {view.role} has more than {len(LABELS)} labels; use json")
        mask[_PLACES[label]] = 1
    return mask


def env(**options: Any) -> Any:
    """The environment in the wrapper that all of PettingZoo's own have. It takes the arguments of
    ``IncidentEnv``."""
    return OrderEnforcingWrapper(IncidentEnv(**options))


pettingzoo.register("aec", NAME, entry_point=f"{__name__}:env")
