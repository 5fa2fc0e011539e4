"""An episode on the server, and what its players receive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import uuid4

from chaosops.core.actions import Action
from chaosops.core.decision import Decision
from chaosops.core.episode import Episode, Turn
from chaosops.core.errors import BadInput
from chaosops.core.telemetry import Message
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.llm.formats import load_format
from chaosops.roles.schema import action_schema
from chaosops.roles.view import Recorded, project
from chaosops.rubrics import CompositeRubric, priced
from chaosops.rubrics.prices import read_rewards
from chaosops.server.options import ResetOptions, chosen_scenario
from chaosops.server.partners import take_seat
from chaosops.wire.decisions import read_action
from chaosops.wire.episodes import debrief_to_wire
from chaosops.wire.openenv import ChaosOpsAction, ChaosOpsState
from chaosops.wire.views import message_to_wire, rules_to_wire, view_to_wire

_RUBRICS = 64  # with rewards of clients' own; each keeps a cache of scores


@lru_cache(maxsize=_RUBRICS)
def _rubric(rewards: tuple[tuple[str, float], ...]) -> CompositeRubric:
    """Scores depend on events alone, so episodes with equal rewards share one rubric and its
    cache."""
    return priced(dict(rewards))


NOTHING_SEEN: Mapping[str, Any] = {"view": None, "messages": (), "action_schema": None}


class ShownEpisode:
    """Makes what the role on turn receives: its view, as data and as a prompt, and its legal
    actions. Parts that the client did not ask for are not made."""

    def __init__(self, env: Env, prompt_format: str, include: Iterable[str]) -> None:
        self.env = env
        self._format = load_format(prompt_format)
        self._include = frozenset(include)
        self._chat = _ChatWire()

    def read(self, said: ChaosOpsAction) -> Action:
        """A reply that cannot be read is an ``Unreadable``; an action, a ``BadInput``."""
        if said.reply is None:
            return read_action(said.fields())
        return self._format.read(self.env.view, said.reply)

    def seen(self) -> dict[str, Any]:
        public, view = self.env.world.public, self.env.view
        role, include = view.role, self._include
        if "view" in include and "messages" in include:  # they share one reading
            channels = Recorded(view.health, view.metrics, view.logs, view.alerts, view.trace)
            public = public._replace(sensors=channels)
        seen: dict[str, Any] = {"role": role.value, **NOTHING_SEEN}
        if "view" in include:
            seen["view"] = view_to_wire(project(public._replace(journal=()), role))
            seen["view"]["chat"] = self._chat.of(public.journal, role)
        if "messages" in include:
            seen["messages"] = self._format.messages(project(public, role))
        if "action_schema" in include:
            seen["action_schema"] = action_schema(public.rules, role)
        return seen


def observation(
    episode_id: str, env: Env, seen: Callable[[], dict[str, Any]], **told: Any
) -> dict[str, Any]:
    """The content of a ``ChaosOpsObservation``. ``told`` holds its other fields."""
    return {
        "episode_id": episode_id,
        "step": env.world.public.step,
        "limit": env.world.public.limit,
        **({"role": None, **NOTHING_SEEN} if env.over else seen()),
        "rules": None,
        "last_turn": None,
        "terminated": False,
        "truncated": False,
        "debrief": None,
        **told,
    }


def state_of(episode_id: str, env: Env, **told: Any) -> ChaosOpsState:
    scenario = env.scenario
    return ChaosOpsState(
        episode_id=episode_id,
        step_count=env.world.public.step,
        status="over" if env.over else "running",
        pack=scenario.pack,
        tier=scenario.tier.value,
        split=scenario.split or None,
        limit=scenario.limit,
        role=None if env.over else env.role.value,
        **told,
    )


class Played(NamedTuple):
    """The client's turn, and the reward until the client is on turn again."""

    turn: Turn
    reward: float


class ServedEpisode(ShownEpisode):
    """With a role in the options, the client has one seat and the server plays the partners."""

    def __init__(self, options: ResetOptions) -> None:
        scenario = chosen_scenario(options)
        rubric = _rubric(tuple(read_rewards(options.rewards).items()))
        self._seat = seat = take_seat(scenario, options.role, options.partners, rubric)
        env = Env(scenario, rubric) if seat is None else seat.env
        super().__init__(env, options.format, options.include)
        self.id = options.episode_id or str(uuid4())
        served = Episode(scenario, env.cause, env.rogue, "served")
        self.record = served if seat is None else seat.episode
        self.reward = sum(turn.score.total for turn in self.record.turns)

    @property
    def role(self) -> Role | None:
        """The role on turn; None when the episode is over."""
        return None if self.env.over else self.env.role

    def play(self, action: Action, suspicion: Mapping[str, float] | None = None) -> Played:
        if self.env.over:
            raise BadInput("the episode is over: reset starts another")
        decision = Decision(action, suspicion)
        if self._seat is not None:
            step = self._seat.act(decision)
            played = Played(step.turns[0], step.reward)
        else:
            turn = self.env.play(decision)
            self.record.turns.append(turn)
            played = Played(turn, turn.score.total)
        self.reward += played.reward
        return played

    @property
    def rules(self) -> dict[str, Any]:
        """All rules for a client that plays all four roles, otherwise those of its role."""
        if self._seat is not None:
            return self.rules_of(self._seat.role)
        return rules_to_wire(self.env.world.public.rules)

    def rules_of(self, role: Role) -> dict[str, Any]:
        return rules_to_wire(project(self.env.world.public, role).rules)

    def debrief(self) -> dict[str, Any]:
        """The truth, which is sent only at the end."""
        if not self.env.over:
            raise BadInput("the debrief is sent when the episode is over")
        return debrief_to_wire(self.record)


class _ChatWire:
    """The chat as JSON. It only grows, so what was made before is kept."""

    def __init__(self) -> None:
        self._known: list[tuple[Message | None, dict[str, Any]]] = []

    def of(self, journal: tuple[Message, ...], role: Role) -> list[dict[str, Any]]:
        for message in journal[len(self._known) :]:
            private = message if message.to is not None else None
            self._known.append((private, message_to_wire(message)))
        return [
            said for private, said in self._known if private is None or private.readable_by(role)
        ]
