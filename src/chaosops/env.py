"""The environment: one incident, played turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from chaosops.core.actions import Action, Unreadable, to_wire
from chaosops.core.decision import Decision
from chaosops.core.episode import Episode, Turn
from chaosops.core.vocabulary import Role, role_on_turn
from chaosops.packs import AnyScenario, load_pack, read_scenario
from chaosops.roles.parse import parse, parse_object
from chaosops.roles.view import RoleView, project
from chaosops.rubrics import CompositeRubric, standard
from chaosops.world import engine
from chaosops.world.engine import World


class StepResult(NamedTuple):
    """``terminated``: the incident is resolved. ``truncated``: the step limit was reached.
    ``info`` holds the rubrics and their components. It never shows the truth."""

    view: RoleView
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class Env:
    """An episode in progress. Its world is immutable, so ``fork`` costs nothing.

    >>> from chaosops import Env, make_scenario
    >>> env = Env(make_scenario("db_deadlock", seed=1))
    >>> env.role.value
    'sre'
    >>> env.step('{"action": "restart", "target": "db"}').reward
    110.0
    """

    __slots__ = ("_pack", "_rubric", "scenario", "world")

    def __init__(
        self,
        scenario: AnyScenario,
        rubric: CompositeRubric | None = None,
        observed: Sequence[Any] = (),
    ) -> None:
        """``observed`` is that of an episode in real time, which is shown again."""
        self.scenario = read_scenario(scenario)
        self._rubric = rubric if rubric is not None else standard()
        pack = load_pack(self.scenario.pack)
        self._pack = pack.played_from(observed) if observed else pack
        self.world: World = engine.start(self._pack, self.scenario)

    @classmethod
    def again(cls, episode: Episode, rubric: CompositeRubric | None = None) -> Env:
        """The start of an episode that was played, whose decisions can be played again."""
        return cls(episode.scenario, rubric, episode.observed)

    def fork(self) -> Env:
        twin = object.__new__(Env)
        twin.scenario, twin._rubric, twin.world = self.scenario, self._rubric, self.world
        twin._pack = self._pack
        return twin

    def reset(self) -> RoleView:
        self.world = engine.start(self._pack, self.scenario)
        return self.view

    @property
    def observed(self) -> list[Any]:
        return self._pack.observed(self.world.truth.incident)

    @property
    def role(self) -> Role:
        return role_on_turn(self.world.public.step)

    @property
    def view(self) -> RoleView:
        """What the role on turn sees."""
        public = self.world.public
        return project(public, role_on_turn(public.step))

    @property
    def over(self) -> bool:
        return self.world.truth.over

    @property
    def cause(self) -> str:
        return self.world.truth.incident.cause

    @property
    def rogue(self) -> str | None:
        return self.world.truth.incident.rogue

    def play(self, decision: Decision) -> Turn:
        """Carry out a decision of the role on turn, and score what happened."""
        role = self.role
        self.world, events = engine.step(self.world, role, decision.action)
        return Turn(role, decision, events, self._rubric.score(events))

    def step(self, action: Action | str | Mapping[str, Any]) -> StepResult:
        """One turn in Gymnasium's style, with an action, its JSON object or a model's reply.

        Each is parsed like a reply, so a malformed action is a miscommunication. So is what
        ``parse`` could not read.
        """
        turn = self.play(Decision(read_any(action)))
        info = {
            "role": turn.role.value,
            "rubrics": dict(turn.score.rubrics),
            "components": {name: dict(parts) for name, parts in turn.score.components.items()},
            "miscommunication": turn.events.miscommunication,
        }
        return StepResult(
            self.view, turn.score.total, turn.events.resolved, turn.events.out_of_time, info
        )


def read_any(action: Action | str | Mapping[str, Any]) -> Action:
    """An action, its JSON object or a model's reply, read as a reply. See ``Env.step``."""
    if isinstance(action, Unreadable):
        return action
    if isinstance(action, Mapping):
        return parse_object(action)
    if isinstance(action, Action):
        return parse_object(to_wire(action))
    return parse(action)
