"""OpenEnv's environment: one session, one episode at a time.

A step takes microseconds, so ``reset_async`` and ``step_async`` run it on the event loop. OpenEnv
would run the plain methods in a thread, which costs more than the step itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from chaosops.client.openenv_core import Environment, EnvironmentMetadata
from chaosops.packs import training_splits
from chaosops.server.episode import Played, ServedEpisode, observation, state_of
from chaosops.server.errors import NoEpisode, mistakes_logged
from chaosops.server.options import count_tasks, read_options, splits, task, tasks
from chaosops.server.tools import ToolBox
from chaosops.version import VERSION
from chaosops.wire.episodes import scored_turn
from chaosops.wire.openenv import ChaosOpsAction, ChaosOpsObservation, ChaosOpsState

_DESCRIPTION = (
    "Four roles (SRE, Oversight, Developer, Manager) handle an incident; sometimes another AI "
    "agent of the fleet caused it. Each role sees its part of the world and nothing else."
)


class ServedObservation:
    """An observation as JSON-ready data, with the four attributes that OpenEnv reads.

    A ``ChaosOpsObservation`` would validate on every step data that this process has just made.
    """

    __slots__ = ("content", "done", "metadata", "reward")

    def __init__(self, content: dict[str, Any], reward: float | None, done: bool) -> None:
        self.content = content
        self.reward = reward
        self.done = done
        self.metadata: dict[str, Any] = {}

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return self.content

    def checked(self) -> ChaosOpsObservation:
        whole = {**self.content, "reward": self.reward, "done": self.done}
        observation: ChaosOpsObservation = ChaosOpsObservation.model_validate(whole)
        return observation


class ChaosOpsEnvironment(Environment):  # type: ignore[misc]
    SUPPORTS_CONCURRENT_SESSIONS: ClassVar[bool] = True
    num_tasks = staticmethod(count_tasks)
    get_task = staticmethod(task)
    get_task_range = staticmethod(tasks)

    def __init__(self) -> None:
        super().__init__()
        self._episode: ServedEpisode | None = None

    def reset(self, /, **options: Any) -> ChaosOpsObservation:
        return self._reset(options).checked()

    async def reset_async(self, /, **options: Any) -> ServedObservation:
        return self._reset(options)

    def step(
        self, action: ChaosOpsAction, timeout_s: float | None = None, **_: Any
    ) -> ChaosOpsObservation:
        return self._step(action).checked()

    async def step_async(
        self, action: ChaosOpsAction, timeout_s: float | None = None, **_: Any
    ) -> ServedObservation:
        return self._step(action)

    def _reset(self, options: Mapping[str, Any]) -> ServedObservation:
        with mistakes_logged():
            # If the options are bad, the old episode stays.
            self._episode = ServedEpisode(read_options(options))
            return self._observe(None)

    def _step(self, action: ChaosOpsAction) -> ServedObservation:
        with mistakes_logged():
            episode = self.episode
            return self._observe(episode.play(episode.read(action), action.suspicion))

    @property
    def episode(self) -> ServedEpisode:
        if self._episode is None:
            raise NoEpisode
        return self._episode

    def _observe(self, played: Played | None) -> ServedObservation:
        episode = self.episode
        over = episode.env.over
        # The end may come with a partner's turn, and even before the client's first.
        ended = episode.record.turns[-1].events if over else None
        content = observation(
            episode.id,
            episode.env,
            episode.seen,
            rules=episode.rules if played is None else None,
            last_turn=None if played is None else scored_turn(played.turn),
            terminated=ended is not None and ended.resolved,
            truncated=ended is not None and ended.out_of_time,
            debrief=episode.debrief() if over else None,
        )
        return ServedObservation(content, None if played is None else played.reward, over)

    @property
    def state(self) -> ChaosOpsState:
        if self._episode is None:
            return ChaosOpsState()
        return state_of(self._episode.id, self._episode.env, reward=self._episode.reward)

    @property
    def mcp_client(self) -> ToolBox:
        """OpenEnv reads an agent's tools from this attribute."""
        return ToolBox(lambda: self.episode)

    def get_metadata(self) -> EnvironmentMetadata:
        return EnvironmentMetadata(name="chaosops", description=_DESCRIPTION, version=VERSION)

    def list_splits(self) -> list[dict[str, str]]:
        """Those of type ``train`` are for training and for choosing a checkpoint."""
        trainable = training_splits()
        return [
            {"name": name, "type": "train" if name in trainable else "test"} for name in splits()
        ]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """The first hundred. ``num_tasks`` has the total."""
        return tasks(split, 0, 100)
