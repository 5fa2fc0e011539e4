"""Recorded cases: incidents that ship with the package, and how policies played them.

Before a case is revealed, the server sends what the instruments of the company show while nobody
acts, and the documents: no policy's decision, no reward, no verdict.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from chaosops.core.actions import FlagRogue, Noop
from chaosops.core.chain import read_json
from chaosops.core.decision import Decision
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.inputs import read_text
from chaosops.core.scenario import Scenario
from chaosops.core.telemetry import ServiceReading
from chaosops.env import Env
from chaosops.report.case_file import CaseFile, case_file
from chaosops.report.frames import Frame, frame_of
from chaosops.rollout import Rollout, Team
from chaosops.web.case_wire import NOBODY, case_file_to_wire, verdict_of
from chaosops.web.choices import require_named
from chaosops.web.episode_pool import line
from chaosops.web.episodes import start_to_wire
from chaosops.web.wire import frame_to_wire
from chaosops.wire.decisions import field
from chaosops.wire.episodes import from_record, read_scenario

FOLDER = Path(__file__).with_name("cases")
FORMAT = "chaosops case 1"
_NUMBERS = {3: "three", 4: "four", 5: "five", 6: "six"}
WATCHED = 12  # steps that are shown before anybody is accused


class UnknownCase(UnknownName):
    """No case has this name."""


class Recorded(NamedTuple):
    """How one policy played a case. ``team`` names it as ``chaosops run --policy`` does."""

    policy: str
    team: str
    manifest: Mapping[str, Any]
    episode: Episode

    def figures(self) -> dict[str, Any]:
        """What it did and when, for the table beside the visitor's accusation. An agent that is
        flagged again is told once: the second flag changes nothing."""
        flags: dict[str, dict[str, Any]] = {}
        innocent = set()
        for turn in self.episode.turns:
            flag, events = turn.decision.action, turn.events
            if isinstance(flag, FlagRogue) and events.miscommunication is None:
                told = {"step": events.step, "agent": flag.target, "caught": events.rogue_flagged}
                flags.setdefault(flag.target, told)
                innocent |= {flag.target} if events.false_flag else set()
        kept = ("resolved", "steps", "reward", "rogue_caught")
        return {
            **self.label(),
            "flags": list(flags.values()),
            "false_flags": len(innocent),
            **{name: getattr(self.episode, name) for name in kept},
        }

    def label(self) -> dict[str, Any]:
        """Which version and commit it was recorded with."""
        made = {name: self.manifest.get(name) for name in ("version", "commit")}
        return {"policy": self.policy, "team": self.team, **made}


class Case:
    """One recorded case. Everything is computed on first use and kept."""

    def __init__(self, path: Path) -> None:
        self._path = path
        content = _content(path)
        self.name = path.stem
        self.number: int = field(content, "number", int)
        self.scenario: Scenario = read_scenario(field(content, "scenario", dict))
        self._recordings = field(content, "recordings", list)
        self._lock = Lock()
        self._replays: dict[str, bytes] = {}
        self._question: bytes | None = None

    @cached_property
    def recorded(self) -> dict[str, Recorded]:
        """By policy. An episode that this world does not reproduce is an error."""
        found = {}
        for wire in self._recordings:
            try:
                episode = from_record(field(wire, "record", dict))
                policy, team = field(wire, "policy", str), field(wire, "team", str)
                found[policy] = Recorded(policy, team, field(wire, "manifest", dict), episode)
            except BadInput as error:
                raise BadInput(f"{self._path.name}: {error}; {_CURE}") from None
        return found

    @cached_property
    def policies(self) -> list[str]:
        return [field(wire, "policy", str) for wire in self._recordings]

    @cached_property
    def file(self) -> CaseFile:
        """Of the first policy's episode. The truth in it is the same in all."""
        return case_file(next(iter(self.recorded.values())).episode)

    @property
    def agents(self) -> tuple[str, ...]:
        return self._watched[0].rollout.env.world.public.rules.agents

    @property
    def readings(self) -> tuple[ServiceReading, ...]:
        """After the steps that are shown before anybody is accused."""
        return self._watched[-1].frame.readings

    def summary(self) -> dict[str, Any]:
        """Nothing about the truth."""
        return {
            "name": self.name,
            "number": self.number,
            "tier": self.scenario.tier.value,
            "services": len(self.readings),
            "agents": len(self.agents),
            "scenario": {
                "pack": self.scenario.pack,
                "split": self.scenario.split,
                "tier": self.scenario.tier.value,
                "seed": str(self.scenario.seed),
            },
        }

    def question(self, following: str) -> bytes:
        """The case without its answer, as JSON in gzip. ``following`` is the next case."""
        with self._lock:
            if self._question is None:
                content = {**self._asked(), "next": following}
                self._question = packed(json.dumps(content, separators=(",", ":")).encode())
            return self._question

    def _asked(self) -> dict[str, Any]:
        first = self._watched[0]
        start = {**start_to_wire(first.rollout, first.frame), "title": self.title}
        lines = [start, *(_told(one.frame, one.before) for one in self._watched)]
        labels = [dict(wire["manifest"], policy=wire["policy"]) for wire in self._recordings]
        kept = ("policy", "version", "commit")
        return {
            **self.summary(),
            "title": self.title,
            "question": self.words,
            "limit": self.scenario.limit,
            "agents": list(self.agents),
            "policies": [{name: label.get(name) for name in kept} for label in labels],
            "lines": lines,
        }

    @property
    def title(self) -> str:
        return f"Case {self.number}: {self.name}"

    @property
    def words(self) -> str:
        number = _NUMBERS.get(len(self.agents), str(len(self.agents)))
        return f"One of these {number} AI agents broke production. Or none did. Which?"

    def reveal(self, accused: str, following: str) -> dict[str, Any]:
        """The truth, and what each policy did. ``following`` is the next case."""
        agents = [suspect.agent for suspect in self.file.suspects]
        require_named("agent", accused, [*agents, NOBODY])
        return {
            "name": self.name,
            "next": following,
            "verdict": verdict_of(self.file, accused),
            "policies": [one.figures() for one in self.recorded.values()],
        }

    def replay(self, policy: str) -> bytes:
        """All lines of a recorded episode and its case file, in gzip."""
        require_named("recorded policy", policy, self.policies)
        with self._lock:
            if policy not in self._replays:
                self._replays[policy] = packed(b"".join(self._lines(self.recorded[policy])))
            return self._replays[policy]

    def _lines(self, one: Recorded) -> Iterable[bytes]:
        rollout = Rollout(Env(self.scenario), _Team(one.policy, one.manifest))
        before, frame = None, frame_of(rollout)
        yield line({**start_to_wire(rollout, frame), "title": self.title, "recorded": one.label()})
        yield line(frame_to_wire(frame))
        for turn in one.episode.turns:
            rollout.episode.turns.append(rollout.env.play(turn.decision))
            before, frame = frame, frame_of(rollout, frame)
            yield line(frame_to_wire(frame, before))
        yield line(case_file_to_wire(one.episode))

    @cached_property
    def _watched(self) -> list[_Watched]:
        rollout = Rollout(Env(self.scenario), _Team("nobody", {}))
        before, frame = None, frame_of(rollout)
        found = [_Watched(rollout, frame, None)]
        for _ in range(min(WATCHED, self.scenario.limit - 1)):
            rollout.env.play(Decision(Noop()))
            before, frame = frame, frame_of(rollout, frame)
            found.append(_Watched(rollout, frame, before))
        return found


class _Watched(NamedTuple):
    rollout: Rollout
    frame: Frame
    before: Frame | None


class _Team(Team):
    """Stands in a rollout for those who have played already. Nobody is asked."""

    def __init__(self, name: str, manifest: Mapping[str, Any]) -> None:
        self.name = name
        self.policies = {}
        self._trained_on = {}
        self._status = dict(manifest.get("policy_status") or {"kind": "recorded"})

    def status(self) -> dict[str, Any]:
        return self._status


class RecordedCases:
    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._names = sorted(path.stem for path in folder.glob("*.json"))
        self._found: dict[str, Case] = {}
        self._lock = Lock()

    @cached_property
    def all(self) -> Sequence[Case]:
        """In the order of their numbers."""
        return sorted(map(self.find, self._names), key=lambda case: case.number)

    def find(self, name: str) -> Case:
        if name not in self._names:
            raise UnknownCase("case", name, self._names)
        with self._lock:
            if name not in self._found:
                self._found[name] = Case(self._folder / f"{name}.json")
            return self._found[name]

    def picture(self, name: str) -> Path | None:
        path = self._folder / f"{self.find(name).name}.png"
        return path if path.is_file() else None

    def today(self, day: date | None = None) -> Case | None:
        """The case of the day: all of them in turn."""
        day = day or date.today()
        return self.all[day.toordinal() % len(self.all)] if self.all else None

    def after(self, name: str) -> Case:
        names = [case.name for case in self.all]
        return self.all[(names.index(name) + 1) % len(names)]


_CURE = "record it again with: python -m scripts.record_cases"


def packed(body: bytes) -> bytes:
    return gzip.compress(body, compresslevel=6, mtime=0)


# What a spectator of an episode sees, and nobody before the reveal.
_JUDGED = ("rubrics", "reward", "wrong_fixes", "flags", "flag", "turn", "outcome")


def _told(frame: Frame, before: Frame | None) -> dict[str, Any]:
    """A frame of the company alone. Nobody acts, so there is no turn either."""
    wire = frame_to_wire(frame, before)
    return {name: value for name, value in wire.items() if name not in _JUDGED}


def _content(path: Path) -> dict[str, Any]:
    try:
        content = read_json(read_text(path, "case"))
    except ValueError as error:
        raise BadInput(f"{path.name} is not a whole case: {error}; {_CURE}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BadInput(f"{path.name} is not a recorded case ('format' is not {FORMAT!r}); {_CURE}")
    return content
