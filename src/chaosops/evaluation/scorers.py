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
from numbers import Real
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

Suspicion = Mapping[str, float]
SIDE_BY_SIDE = 64  # transcripts that a policy is asked about at once


class Scorer(Protocol):
    @property
    def name(self) -> str: ...

    def score(self, transcripts: Sequence[Transcript]) -> Sequence[Any]:
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

    def score(self, transcripts: Sequence[Transcript]) -> list[Any]:
        return [self._scored(transcript) for transcript in transcripts]

    def _scored(self, transcript: Transcript) -> Any:
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

    def score(self, transcripts: Sequence[Transcript]) -> list[Any]:
        requests = [DecisionRequest(each.view, _key(each)) for each in transcripts]
        return [decision.suspicion for decision in self._policy.decide(requests)]

    def status(self) -> Mapping[str, Any]:
        return dict(self._policy.status())


class StoredScores:
    """Scores in a file: ``{"id": "e0001", "turn": 1, "suspicion": {"autoscaler": 0.3}}``."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._scores: dict[tuple[Any, Any], Any] = {}
        for number, text in enumerate(read_text(path, "scores").splitlines(), 1):
            try:
                line = read_json(text)
                place = line["id"], line["turn"]
                self._scores[place] = line["suspicion"]
            except (ValueError, KeyError, TypeError) as error:
                raise BadInput(
                    f"{path}: line {number} is not an object with id, turn and suspicion ({error})"
                ) from None

    def score(self, transcripts: Sequence[Transcript]) -> list[Any]:
        places = [(each.id, len(each.views)) for each in transcripts]
        if missing := [place for place in places if place not in self._scores]:
            name, turn = missing[0]
            raise BadInput(
                f"{self.name} has no score of {name}, turn {turn}; score every turn of the evidence"
            )
        return [self._scores[place] for place in places]

    def status(self) -> Mapping[str, Any]:
        return {"kind": "stored scores"}


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
    answers: list[Suspicion] = []
    for first in range(0, len(asked), SIDE_BY_SIDE):
        some = asked[first : first + SIDE_BY_SIDE]
        told = scorer.score(some)
        answers += [_checked(scorer.name, *pair) for pair in zip(some, told, strict=True)]
        progress(len(answers))
    rest = iter(answers)
    return [[next(rest) for _ in episode.views] for episode in episodes]


def _checked(name: str, transcript: Transcript, told: Any) -> Suspicion:
    if told is None:
        return {}
    if not isinstance(told, Mapping):
        raise BadInput(
            f"{_at(name, transcript)}: returned {type(told).__name__}; return a dictionary with "
            "a number from 0 to 1 for each agent of view.rules.agents"
        )
    for agent, value in told.items():
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or not 0 <= float(value) <= 1:
            raise BadInput(
                f"{_at(name, transcript)}: the suspicion of {short(agent)} is {short(value)}; "
                "expected a number from 0 to 1"
            )
    return {str(agent): float(value) for agent, value in told.items()}


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
            yield {"id": episode.id, "turn": turn, "suspicion": dict(suspicion)}
