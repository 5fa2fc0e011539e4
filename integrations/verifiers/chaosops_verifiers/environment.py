"""One incident, four roles: each role is an agent of verifiers or a partner of ChaosOps.

``seats`` are played by models. ``partners`` names who plays the others: a script, or any policy or
team of ChaosOps. ``train`` names the seats whose traces are for training; a model in another seat
is a partner too.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any, Literal

import verifiers.v1 as vf
from verifiers.v1.utils.loaders import resolve_env_config

from chaosops import Env, Seat
from chaosops.core.decision import Decision
from chaosops.core.episode import Episode
from chaosops.core.vocabulary import Role
from chaosops.policies.llm.formats import ENDPOINT_FORMATS, Format, load_format
from chaosops.policies.llm.replies import split_answer
from chaosops.roles.view import RoleView
from chaosops.rollout import load_team
from chaosops.seat import NO_REPLY
from chaosops_verifiers.taskset import ChaosOpsTask

ID = "chaosops-verifiers"
RoleName = Literal["sre", "oversight", "dev", "manager"]
ROLES: list[RoleName] = ["sre", "oversight", "dev", "manager"]


def _agent() -> vf.AgentConfig:
    # The default is a rented machine. Here nothing is executed, so this process is enough.
    return vf.AgentConfig(runtime={"type": "subprocess"})


class ChaosOpsEnvConfig(vf.EnvConfig):
    sre: vf.AgentConfig = _agent()
    oversight: vf.AgentConfig = _agent()
    dev: vf.AgentConfig = _agent()
    manager: vf.AgentConfig = _agent()
    seats: list[RoleName] = ROLES
    """The roles that models play: one, or all four."""
    train: list[RoleName] | None = None
    """The seats whose traces are for training (None = all seats)."""
    partners: str = "heuristic"
    """Who plays the other roles: a policy or a team of ChaosOps."""
    format: str = "json"
    """How a prompt asks and how a reply is read: json or menu."""
    team_weight: float = 1.0
    """The weight of the episode's reward, which the four roles share."""
    own_weight: float = 0.0
    """The weight of what a role's own turns earned. The four sum to the episode's reward."""


class ChaosOpsEnv(vf.Env[ChaosOpsEnvConfig]):
    def __init__(self, config: ChaosOpsEnvConfig) -> None:
        super().__init__(config)
        self._seats = [Role(name) for name in dict.fromkeys(config.seats)]
        if len(self._seats) not in (1, len(Role)):
            raise ValueError("seats are one role or all four; let partners play the others")
        untaken = set(config.train or ()) - set(config.seats)
        if untaken:
            raise ValueError(f"train names {', '.join(sorted(untaken))}, which no seat plays")
        # As endpoints are asked: Oversight tells its suspicion too.
        self._format = ENDPOINT_FORMATS[load_format(config.format).name]()
        # Loaded once, and asked by one episode at a time: it may be a model.
        self._partners = load_team(config.partners) if len(self._seats) == 1 else None
        self._asking = asyncio.Lock()

    async def setup(self, agents: vf.Agents) -> None:
        trained = self.config.train if self.config.train is not None else self.config.seats
        for role in self._seats:
            getattr(agents, role).trainable = role.value in trained

    async def run(self, task: ChaosOpsTask, agents: vf.Agents) -> None:
        # The prompts come from the views. The task names the episode and is not shown.
        open_task = task.with_data(prompt=None)
        async with AsyncExitStack() as stack:
            players = {}
            for role in self._seats:
                exchange = getattr(agents, role).interaction(open_task)
                players[role] = Player(await stack.enter_async_context(exchange), self._format)
            episode = await self._play(task, players)
        for role, player in players.items():
            self._record(player.trace, role, episode)

    async def _play(self, task: ChaosOpsTask, players: dict[Role, Player]) -> Episode:
        scenario = task.data.scenario()
        if self._partners is not None:
            ((role, player),) = players.items()
            async with self._asking:
                seat = await asyncio.to_thread(Seat, scenario, role, self._partners)
            while (view := seat.view) is not None:
                decision = await player.decide(view)
                async with self._asking:
                    await asyncio.to_thread(seat.act, decision)
            return seat.episode
        env = Env(scenario)
        episode = Episode(scenario, env.cause, env.rogue, ID)
        while not env.over:
            decision = await players[env.role].decide(env.view)
            episode.turns.append(env.play(decision))
        return episode

    def _record(self, trace: vf.Trace, role: Role, episode: Episode) -> None:
        own = sum(turn.score.total for turn in episode.turns if turn.role is role)
        trace.record_reward("team", episode.reward, self.config.team_weight)
        trace.record_reward("own", own, self.config.own_weight)
        trace.record_metrics(
            {
                "solved": float(episode.resolved),
                "steps": float(episode.steps),
                "wrong_fixes": float(episode.wrong_fixes),
                "false_flags": float(episode.false_flags),
                "unreadable_replies": float(episode.unreadable_replies),
                **{f"rubric_{name}": total for name, total in episode.rubric_totals.items()},
            }
        )
        if episode.rogue_caught is not None:
            trace.record_metric("rogue_caught", float(episode.rogue_caught))


class Player:
    """A seat and the model in it."""

    def __init__(self, exchange: Any, reply_format: Format) -> None:
        self._exchange = exchange
        self._format = reply_format
        self._stopped = False

    @property
    def trace(self) -> vf.Trace:
        return self._exchange.trace

    async def decide(self, view: RoleView) -> Decision:
        """The model's decision. One that reached a limit of verifiers, such as ``max_turns``,
        misses its other turns. Each costs what an unreadable reply costs."""
        if not self._stopped:
            segment = await self._exchange.turn(list(self._format.messages(view)))
            if not segment.terminated:
                reply = split_answer(segment.messages[-1].content or "", self._format.name).answer
                return Decision(self._format.read(view, reply), self._format.split(view, reply)[1])
            if self.trace.errors:
                raise RuntimeError(f"{view.role} got no reply: {self.trace.errors[-1].message}")
            self._stopped = True
        return Decision(NO_REPLY)


def load_environment(**options: Any) -> ChaosOpsEnv:
    """The environment with options of ``ChaosOpsEnvConfig``, and of the taskset: ``pack``,
    ``split``, ``tiers``, ``seeds``, ``seed_start``."""
    names = ("pack", "split", "tiers", "seeds", "seed_start")
    chosen = {name: options.pop(name) for name in names if name in options}
    config = resolve_env_config({**options, "taskset": {"id": ID, **chosen}})
    return ChaosOpsEnv(config)
