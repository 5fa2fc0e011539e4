"""Episodes of an evaluation or a training run for spectators: what was decided then is played
again, and no model is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from chaosops.core.decision import Decision
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_object
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.evaluation.naming import short_names
from chaosops.evaluation.results import RESULTS_NAME
from chaosops.evaluation.stored import results_file
from chaosops.policies.llm.formats import formats_of
from chaosops.policies.protocol import DecisionRequest
from chaosops.report.frames import frame_of
from chaosops.rollout import Rollout, Team
from chaosops.rubrics import CompositeRubric
from chaosops.web.case_wire import case_file_to_wire
from chaosops.web.choices import code_of
from chaosops.web.comparisons import plays
from chaosops.web.episode_pool import Lines, Slot, line
from chaosops.web.episodes import next_frame, start_to_wire
from chaosops.web.wire import frame_to_wire, status_words
from chaosops.wire.episodes import from_record, record_of
from chaosops.wire.recordings import recorded_rubric

# The manifest, and the lines of results.json by what names an episode.
Stored = tuple[Mapping[str, Any], Mapping[tuple[str, ...], Mapping[str, Any]]]

_reading = Lock()
_NAMED = ("pack", "split", "scenario", "tier", "seed", "policy")


class RecordedEpisode(NamedTuple):
    """``made``: the version and the commit that played it."""

    episode: Episode
    status: Mapping[str, Any]
    made: Mapping[str, Any]
    rubric: CompositeRubric | None = None


class RecordedPolicy:
    """Repeats what was decided."""

    sees_truth = False

    def __init__(self, name: str, decisions: Sequence[Decision], status: Mapping[str, Any]) -> None:
        self.name = name
        self._decisions = iter(decisions)
        self._status = status

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        return [next(self._decisions) for _ in requests]

    def status(self) -> Mapping[str, Any]:
        return self._status


async def stream_recorded(one: RecordedEpisode, name: str, slot: Slot) -> Lines:
    decisions = [turn.decision for turn in one.episode.turns]
    policy = RecordedPolicy(name, decisions, one.status)
    env = Env.again(one.episode, one.rubric)
    rollout = Rollout(env, Team(dict.fromkeys(Role, policy), name))
    frame = await slot.work(frame_of, rollout)
    commit = str(one.made.get("commit") or "")[:12]
    words = f"recorded at commit {commit}" if commit else "recorded"
    yield line(
        {
            **start_to_wire(rollout, frame),
            "status": f"{status_words(one.status)}; {words}",
            "recorded": {"policy": name, "team": one.episode.team, **one.made},
        }
    )
    yield line(frame_to_wire(frame))
    while not rollout.env.over:
        before, frame = frame, await slot.work(next_frame, rollout, frame)
        yield line(frame_to_wire(frame, before))
    yield line(await slot.work(case_file_to_wire, rollout.episode))


def find_evaluated(folder: Path, query: Mapping[str, str]) -> RecordedEpisode:
    """The episode of an evaluation that a query names."""
    manifest, lines = prepare(folder)
    wire = lines.get(tuple(query.get(name, "") for name in _NAMED))
    if wire is None:
        raise BadInput("this evaluation has no such episode; choose one on the page of results")
    rubric = recorded_rubric(manifest)
    pack_hash = str(manifest["packs"][wire["scenario"]["pack"]]["hash"])
    episode = from_record(
        record_of(wire, pack_hash), rubric=rubric, formats=formats_of(manifest["policies"])
    )
    made = {name: manifest.get(name) for name in ("version", "commit")}
    return RecordedEpisode(episode, manifest["policies"][wire["policy"]], made, rubric)


def prepare(folder: Path) -> Stored:
    """Read an evaluation. Both sides of an episode ask for it at once, and one of them reads."""
    path = results_file(folder) or folder / RESULTS_NAME
    found = path.stat()
    with _reading:
        return _read(path, (found.st_mtime_ns, found.st_size))


# One evaluation is kept: a visitor looks at several episodes of it.
@lru_cache(maxsize=1)
def _read(path: Path, _stamp: tuple[int, int]) -> Stored:
    content = read_object(path, "results")
    manifest = content["manifest"]
    labels = short_names(manifest["policies"])
    return manifest, {_name(wire, labels): wire for wire in content["episodes"]}


def _name(wire: Mapping[str, Any], labels: Mapping[str, str]) -> tuple[str, ...]:
    scenario = wire["scenario"]
    pack = plays(scenario["pack"], scenario.get("version", "")) or scenario["pack"]
    failure = scenario.get("failure", "")
    names = (scenario.get("split", ""), code_of(failure) if failure else "", scenario["tier"])
    return (pack, *names, str(scenario["seed"]), labels[wire["policy"]])
