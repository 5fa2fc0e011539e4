"""What the engine asks of a pack: the physics and the truth of one incident."""

from __future__ import annotations

import sys
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

from chaosops.core.actions import Action
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.rules import Rulebook
from chaosops.core.scenario import Scenario
from chaosops.core.telemetry import AuditReport, Inspection, Sensors
from chaosops.core.vocabulary import Role, Tier
from chaosops.world.source_hash import source_hash

# A pack's physical state: any immutable value that JSON can hold. The engine passes it on.
State: TypeAlias = Any


class Effect(NamedTuple):
    """What an action did to the world.

    ``helps`` is judged before a remedy takes effect. None means that nothing was to be repaired.
    ``refusal`` says why the world refused the action, which is a miscommunication.
    """

    state: State
    helps: bool | None = None
    second_order: bool = False
    refusal: str | None = None
    finding: Inspection | AuditReport | None = None


class Twin(NamedTuple):
    """Failed user requests during an episode, and during the same minutes of its
    counterfactuals."""

    lost: float
    lost_without_cause: float
    lost_without_team: float
    lost_with_earlier_flag: float | None = None
    """With the right flag one round earlier. None where there was none, or no round before it."""

    @property
    def blast_radius(self) -> float:
        """Failed requests beyond those that would have failed without the incident."""
        return self.lost - self.lost_without_cause

    @property
    def saved_by_earlier_flag(self) -> float | None:
        earlier = self.lost_with_earlier_flag
        return None if earlier is None else self.lost - earlier


class ActReading(NamedTuple):
    """What somebody who understands the documents finds in one entry of the trace."""

    damage: bool
    """By the trace, its agent moved the setting further than the page about it allows."""
    breach: bool
    """By the trace, it is more than the agent's charter allows. Orders are not looked at."""
    decisive: bool
    """The truth: without it nothing would have happened, and its author is rogue."""
    harmful_way: bool = False
    """By the page about its setting, it went the way that does damage."""
    too_far: bool = False
    """What its charter forbids about it, as far as it is one of these five."""
    wrong_load: bool = False
    wrong_time: bool = False
    wrong_place: bool = False
    without_order: bool = False


class Reading(NamedTuple):
    """The truth about the trace before an incident. Only training asks for it."""

    acts: Mapping[int, ActReading] = {}
    """By the number of the entry."""
    demand: int = 0
    """How much must be read together to judge the incident; 0 is the least."""


class Incident(Protocol):
    """One incident being played: its truth and its physics, without mutable state."""

    @property
    def cause(self) -> str: ...
    @property
    def rogue(self) -> str | None: ...

    def act(self, state: State, action: Action, step: int) -> Effect:
        """Carry out an action with an effect on the world: a remedy, a flag, an inspection, …"""
        ...

    def advance(
        self, state: State, action: Action, flagged: tuple[str, ...], step: int
    ) -> tuple[State, bool]:
        """Let one step of time pass after ``action``. Returns the new state, and whether the
        incident is resolved."""
        ...

    def trouble_steps(self, state: State, step: int) -> int | None:
        """For how many steps something has been wrong without a break. 0 while all is well,
        although the incident may not be over. None: since the first step."""
        ...

    def sense(self, state: State, step: int) -> Sensors: ...

    def oracle_action(
        self, state: State, role: Role, flagged: tuple[str, ...], cause_named: bool
    ) -> Action:
        """What a policy that knows the truth does in this role, within its permissions."""
        ...

    def guilty_entries(self) -> frozenset[int]:
        """The numbers of the trace entries in which the rogue caused the incident."""
        ...

    def decisive_entries(self) -> frozenset[int]:
        """Those of the guilty entries without which nothing would have happened."""
        ...

    def reward_key(self, state: State, step: int, flagged: tuple[str, ...]) -> object:
        """All of the state that any future reward depends on: equal keys, equal futures.
        Packs too large to be searched raise BadInput."""
        ...


class SplitWords(NamedTuple):
    """What people read in place of the id of a split."""

    title: str
    words: str


class Pack(ABC):
    """A family of incidents. The rest of the project knows packs by this class alone."""

    name: ClassVar[str]
    version: ClassVar[str]
    plays_like: ClassVar[str] = ""
    """Another pack with the same prompts, menus and documents: who plays that one plays this."""
    real_time: ClassVar[bool] = False
    """Does an episode start processes and take real time? Then only commands that name the pack
    play it (``world/real_time.py``), one episode after the other, and none is played twice."""
    simulated_by: ClassVar[str] = ""
    """Where a pack plays in real time: the pack of the same incidents in simulated time."""
    limits: ClassVar[Mapping[Tier, int]]
    """The step limit of each tier."""
    default_failure: ClassVar[str] = ""
    """Played if none is named. A pack has either failures or splits."""
    drawn: ClassVar[tuple[str, ...]] = ()
    """The failures that a draw may pick; a pack with failures needs some. Those added later are
    not among them."""
    splits: ClassVar[tuple[str, ...]] = ()
    default_split: ClassVar[str] = ""
    training_split: ClassVar[str] = ""
    more_training_splits: ClassVar[tuple[str, ...]] = ()
    """For training too. Nothing is played there unless it is named."""
    reserve_split: ClassVar[str] = ""
    """For validation during training: apart from what is trained on, and never reported on."""
    added_split: ClassVar[str] = ""
    """Plays what was added to the pack. It is one of ``splits`` where anything was."""
    parts: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Its other parts by kind, for ``chaosops list``."""
    judges_oversight: ClassVar[bool] = False
    """Are an overseer's flags and suspicion measured here?"""
    wordings: ClassVar[Mapping[str, str]] = {}
    """What people read in place of the id of a failure, which may name the rogue."""
    guided: ClassVar[Mapping[str, str]] = {}
    """The split, tier and seed of a case that teaches a beginner the rules; empty without one."""
    every_agent_acts: ClassVar[bool] = False
    """Does every fleet agent appear in the trace of every episode?"""

    def failures(self, tier: Tier | None = None) -> tuple[str, ...]:
        """All failure ids, or those published for a tier in their order."""
        return ()

    @abstractmethod
    def open(self, scenario: Scenario) -> tuple[Rulebook, Incident, State]:
        """The rules, the incident and its first state."""

    def read_mechanisms(self, source: str | Path) -> str:
        """Faults that a user brings along: a file, or what this method made of one. The text that
        a scenario holds."""
        raise BadInput(f"pack {self.name} takes no mechanisms of your own; name --pack arena")

    def observed(self, incident: Incident) -> list[Any]:
        """What a pack in real time observes, as values that JSON can hold: one for the start and
        one for each step. The list grows while the episode is played."""
        return []

    def played_from(self, observed: Sequence[Any]) -> Pack:
        """This pack, which takes what it observes from an episode of before. A pack in simulated
        time observes nothing, and is itself."""
        return self

    def close(self) -> None:  # noqa: B027
        """End what an episode in real time has started, if somebody left it before its end."""

    def measured(self, episode: Episode) -> list[str]:
        """What was measured in an episode that has no exact counterfactual, in sentences."""
        return []

    def is_void(self, episode: Episode) -> bool:
        """Was something else measured than the episode? Only real time has such episodes."""
        return False

    def explain(self, scenario: Scenario) -> list[str]:
        """The truth in sentences, for people who look at an episode afterwards."""
        return []

    def reading(self, scenario: Scenario) -> Reading:
        """What is to be read in the trace, for training. Empty without documents."""
        return Reading()

    def split_words(self) -> Mapping[str, SplitWords]:
        """A title and a sentence for its splits: the file ``splits.toml`` beside its module."""
        package = sys.modules[type(self).__module__].__package__
        found = files(package) / "splits.toml" if package else None
        if found is None or not found.is_file():
            return {}
        told = tomllib.loads(found.read_text(encoding="utf-8"))
        return {split: SplitWords(**of) for split, of in told.items()}

    def twin_of(self, episode: Episode) -> Twin | None:
        """The exact counterfactual, or None if the pack counts no requests."""
        return None

    def content_hash(self) -> str:
        """A hash of the pack's code. Where it differs, episodes may differ."""
        return source_hash(type(self).__module__)
