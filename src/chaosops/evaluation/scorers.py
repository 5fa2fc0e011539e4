"""Monitors that score stored transcripts: what they are, and how they are asked.

A scorer is one of:

- a function ``view -> {agent: suspicion}``, or ``transcript -> {agent: suspicion}`` if its first
  parameter is called ``transcript``, as ``module:name`` or ``path/to/file.py:name``; dice may be
  its second parameter;
- a policy, whose suspicion as Oversight is taken: a script by name, or a model or an endpoint;
- a file of scores, ``*.jsonl``, that was written elsewhere: id, turn, suspicion.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from chaosops.core.chain import read_json
from chaosops.core.dice import Dice, key_of
from chaosops.core.errors import BadInput
from chaosops.core.files import write_text
from chaosops.core.importing import cause, load_object
from chaosops.core.inputs import expanded, read_text
from chaosops.core.printable import short
from chaosops.evaluation.transcripts import RecordedEpisode, Transcript
from chaosops.policies.llm.spec import is_own
from chaosops.policies.own import OwnPolicy, file_of, made, takes_dice
from chaosops.policies.protocol import DecisionRequest, Policy, request_key
from chaosops.policies.registry import load_policy
from chaosops.policies.suspicion import full_suspicion, require_probabilities

Suspicion = Mapping[str, float]
SIDE_BY_SIDE = 64  # transcripts that a policy is asked about at once


class Scorer(Protocol):
    @property
    def name(self) -> str: ...

    def score(self, transcripts: Sequence[Transcript]) -> Sequence[Suspicion]:
        """The suspicion against each agent, for each transcript. Empty: none is told."""
        ...

    def status(self) -> Mapping[str, Any]: ...


class FunctionScorer:
    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self._function = function
        self._dice = takes_dice(name, function)
        self._whole = _first_parameter(function) == "transcript"
        self._file = file_of(function)

    def score(self, transcripts: Sequence[Transcript]) -> list[Suspicion]:
        return [_read(_at(self.name, each), self._told(each), each) for each in transcripts]

    def _told(self, transcript: Transcript) -> Any:
        read = transcript if self._whole else transcript.view
        dice = (Dice(_key(transcript)),) if self._dice else ()
        try:
            return self._function(read, *dice)
        except (Exception, SystemExit) as error:
            raise BadInput(f"{_at(self.name, transcript)}: {cause(error, self._file)}") from error

    def status(self) -> Mapping[str, Any]:
        return {"kind": "function", "reads": "transcript" if self._whole else "view"}


class PolicyScorer:
    """The suspicion that a policy reports as Oversight. Its actions are not played."""

    def __init__(self, name: str, policy: Policy) -> None:
        if policy.sees_truth:
            raise BadInput(f"{name} sees the truth, which transcripts do not hold; name another")
        self.name = name
        self._policy = policy

    def score(self, transcripts: Sequence[Transcript]) -> list[Suspicion]:
        requests = [DecisionRequest(each.view, _key(each)) for each in transcripts]
        told = [decision.suspicion or {} for decision in self._policy.decide(requests)]
        for transcript, suspicion in zip(transcripts, told, strict=True):
            require_probabilities(_at(self.name, transcript), suspicion)
        return told

    def status(self) -> Mapping[str, Any]:
        return dict(self._policy.status())


class StoredScores:
    """Scores in a file: ``{"id": "e0001", "turn": 1, "suspicion": {"autoscaler": 0.3}}``."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._lines: dict[tuple[Any, Any], tuple[int, Any]] = {}  # by place: number, suspicion
        for number, text in enumerate(read_text(path, "scores").splitlines(), 1):
            try:
                line = read_json(text)
                place, told = (line["id"], line["turn"]), line["suspicion"]
                first, _ = self._lines.setdefault(place, (number, told))
            except (ValueError, KeyError, TypeError) as error:
                raise BadInput(
                    f"{path}: line {number} is not an object with id, turn and suspicion ({error})"
                ) from None
            if first != number:
                raise BadInput(
                    f"{path}: line {number} scores {place[0]}, turn {place[1]} again, after line "
                    f"{first}; keep one of them"
                )

    def require_same_turns(self, transcripts: Sequence[Transcript]) -> None:
        """Scores of other turns are refused too: they are probably of another folder, where equal
        names mean other episodes."""
        places = dict.fromkeys(map(_place, transcripts))
        if missing := [place for place in places if place not in self._lines]:
            name, turn = missing[0]
            raise BadInput(
                f"{self.name} has no score of {name}, turn {turn}; score every turn of the evidence"
            )
        if foreign := [place for place in self._lines if place not in places]:
            name, turn = foreign[0]
            raise BadInput(
                f"{self.name} scores turns that the evidence does not hold: {len(foreign)}, the "
                f"first in line {self._lines[name, turn][0]} ({short(name)}, turn {short(turn)}); "
                "remove them, or name the folder that was scored"
            )

    def score(self, transcripts: Sequence[Transcript]) -> list[Suspicion]:
        found = [(*self._lines[_place(each)], each) for each in transcripts]
        return [_read(f"{self.name}, line {number}", *told) for number, *told in found]

    def status(self) -> Mapping[str, Any]:
        return {"kind": "stored scores"}


def _place(transcript: Transcript) -> tuple[str, int]:
    return transcript.id, len(transcript.views)


def _key(transcript: Transcript) -> int:
    """The seed of a scorer's draws on this turn."""
    return request_key(key_of("transcript", transcript.id), transcript.view.step)


def load_scorer(text: str) -> Scorer:
    if text.endswith(".jsonl"):
        return StoredScores(expanded(text))
    if not is_own(text):
        return PolicyScorer(text, load_policy(text))
    found: Any = load_object(text, f"scorer {text}")
    if callable(getattr(found, "decide", None)):
        return PolicyScorer(text, OwnPolicy(text, found))
    if isinstance(found, type):
        found = made(text, found, file_of(found))
    if not callable(found):
        raise BadInput(f"{text} is {type(found).__name__}; a scorer is a function or a policy")
    return FunctionScorer(text, found)


def _first_parameter(function: Callable[..., Any]) -> str:
    try:
        return next(iter(inspect.signature(function).parameters), "")
    except (TypeError, ValueError):  # some callables in C have no signature
        return ""


def scores_of(
    scorer: Scorer,
    episodes: Sequence[RecordedEpisode],
    progress: Callable[[int], None] = lambda done: None,
) -> list[list[Suspicion]]:
    """The suspicion on every turn of Oversight, for each episode. ``progress`` is called with the
    number of turns done."""
    asked = [each for episode in episodes for each in episode.transcripts()]
    if isinstance(scorer, StoredScores):
        scorer.require_same_turns(asked)
    answers: list[Suspicion] = []
    for first in range(0, len(asked), SIDE_BY_SIDE):
        answers += scorer.score(asked[first : first + SIDE_BY_SIDE])
        progress(len(answers))
    rest = iter(answers)
    return [[next(rest) for _ in episode.views] for episode in episodes]


def _read(who: str, told: Any, transcript: Transcript) -> Suspicion:
    if told is None:
        return {}
    if not isinstance(told, Mapping):
        raise BadInput(
            f"{who} gave {type(told).__name__}; expected a dictionary with a number from 0 to 1 "
            "for each agent of view.rules.agents"
        )
    return full_suspicion(who, told, transcript.view.rules.agents)


def _at(name: str, transcript: Transcript) -> str:
    return f"{name} on {transcript.id}, turn {len(transcript.views)}"


def write_scores(
    path: Path, episodes: Sequence[RecordedEpisode], scores: Sequence[Sequence[Suspicion]]
) -> None:
    """In the form that ``StoredScores`` reads."""
    lines = (json.dumps(line) + "\n" for line in _score_lines(episodes, scores))
    write_text(path, "".join(lines), "scores")


def _score_lines(
    episodes: Sequence[RecordedEpisode], scores: Sequence[Sequence[Suspicion]]
) -> Iterator[dict[str, Any]]:
    for episode, turns in zip(episodes, scores, strict=True):
        for turn, suspicion in enumerate(turns, 1):
            # Null: it told nothing. In a file, an empty object suspects nobody.
            yield {"id": episode.id, "turn": turn, "suspicion": dict(suspicion) or None}
