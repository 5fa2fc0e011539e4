"""The finished episodes of an evaluation, on disk as soon as they are played.

``episodes.jsonl``: a first line that identifies the job, then one episode a line. After a
kill, ``--resume`` plays the recorded decisions again in the world, which is cheap, and asks
policies only for what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.recording import from_record, to_record
from chaosops.rubrics import standard

FORMAT = "chaosops journal 1"
JOURNAL_NAME = "episodes.jsonl"
_CURE = "repeat the arguments it was made with, or leave out --resume to start over"


class Journal:
    """Used as ``with Journal(path) as journal: evaluate(..., journal=journal)``."""

    def __init__(
        self, path: Path, *, resume: bool = False, say: Callable[[str], None] = lambda line: None
    ) -> None:
        self.path = path
        self._resume = resume
        self._say = say
        self._file: BinaryIO | None = None
        # Each policy's status: before it was asked anything, after the stopped run, and now.
        self._first: dict[str, Any] = {}
        self._earlier: dict[str, Any] = {}
        self._now: dict[str, Any] = {}

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()

    def open(
        self, job: Mapping[str, Any], scenarios: Sequence[Scenario]
    ) -> dict[str, list[Episode]]:
        """The episodes of ``job`` that are finished already, by policy.

        ``job`` names its policies; with the scenarios it is what a resumed run must equal.
        """
        job = _as_json({**job, "scenarios": [scenario.to_wire() for scenario in scenarios]})
        self._first, self._earlier = job["policies"], dict(job["policies"])
        lines = self._whole_lines() if self._resume else []
        finished: dict[str, list[Episode]] = {name: [] for name in job["policies"]}
        if lines:
            self._check_header(lines[0], job)
            self._read_episodes(lines[1:], scenarios, finished)
        self._now = dict(self._earlier)
        try:
            self._file = self.path.open("r+b" if lines else "wb")
            # New lines follow the last whole one.
            self._file.seek(sum(len(line) + 1 for line in lines))
            self._file.truncate()
        except OSError as error:
            raise self._unwritable(error) from None
        if not lines:
            self._write({"format": FORMAT, "job": job})
        if self._resume:
            done = sum(map(len, finished.values()))
            total = len(finished) * len(scenarios)
            self._say(f"resuming: {done} of {total} episodes were finished")
        return finished

    def add(self, policy: str, episode: Episode, status: Mapping[str, Any]) -> None:
        """A policy may learn from replies what it is (a server's revision, say): its status is
        written again whenever it has changed."""
        line = {"policy": policy, **to_record(episode)}
        if status != self._now[policy]:
            joined = self._status(policy, status)
            if joined != self._now[policy]:
                line["status"] = self._now[policy] = joined
        self._write(line)

    def with_earlier(self, statuses: Mapping[str, Any]) -> dict[str, Any]:
        """The policies' statuses at the end, with what only the stopped run had learned."""
        return {policy: self._status(policy, status) for policy, status in statuses.items()}

    def _status(self, policy: str, now: Mapping[str, Any]) -> Any:
        return _joined(self._first[policy], self._earlier[policy], _as_json(now))

    def _write(self, line: Mapping[str, Any]) -> None:
        assert self._file is not None, "open() comes first"
        try:
            self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            self._file.flush()  # what the system has survives a kill of this process
        except OSError as error:
            raise self._unwritable(error) from None

    def _whole_lines(self) -> list[bytes]:
        """A line that a kill cut off has no end; it is left out."""
        try:
            return self.path.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BadInput(f"cannot read {self.path}: {error.strerror or error}") from None

    def _check_header(self, line: bytes, job: Mapping[str, Any]) -> None:
        header = self._decode(1, line)
        if header.get("format") != FORMAT or not isinstance(header.get("job"), dict):
            raise BadInput(f"{self.path} is not a journal of chaosops eval; {_CURE}")
        if differences := _differences(header["job"], job):
            raise BadInput(f"{self.path} is of another job: {'; '.join(differences)}; {_CURE}")

    def _read_episodes(
        self,
        lines: Sequence[bytes],
        scenarios: Sequence[Scenario],
        finished: dict[str, list[Episode]],
    ) -> None:
        rubric = standard()
        for number, line in enumerate(lines, 2):
            record = self._decode(number, line)
            episodes = finished.get(str(record.get("policy")))
            # Episodes are written in the order of the scenarios: what is there is the beginning.
            if episodes is None or len(episodes) == len(scenarios):
                raise BadInput(f"{self.path}:{number}: an episode too many; {_CURE}")
            if record.get("scenario") != scenarios[len(episodes)].to_wire():
                raise BadInput(f"{self.path}:{number}: not the episode that is next; {_CURE}")
            if isinstance(status := record.get("status"), dict):
                self._earlier[record["policy"]] = status
            try:
                episodes.append(from_record(record, rubric=rubric))
            except BadInput as error:
                raise BadInput(f"{self.path}:{number}: {error}") from None

    def _decode(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            content = json.loads(line)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict):
            raise BadInput(f"{self.path}:{number}: not a JSON object; {_CURE}")
        return content

    def _unwritable(self, error: OSError) -> BadInput:
        return BadInput(f"cannot write {self.path}: {error.strerror or error}")


def _as_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """As it will be read back: tuples are lists there, keys are strings."""
    content: dict[str, Any] = json.loads(json.dumps(data))
    return content


def _joined(first: Any, earlier: Any, now: Any) -> Any:
    """
    >>> _joined({"revision": None}, {"revision": "a"}, {"revision": None})
    {'revision': 'a'}
    >>> _joined({"revision": None}, {"revision": "a"}, {"revision": "b"})
    {'revision': 'a, then b'}
    """
    if isinstance(first, dict) and isinstance(earlier, dict) and isinstance(now, dict):
        return {
            key: _joined(first.get(key), earlier.get(key), now.get(key)) for key in now | earlier
        }
    if now in (earlier, first) or str(earlier).endswith(f", then {now}"):
        return earlier
    return now if earlier == first else f"{earlier}, then {now}"


def _differences(then: Mapping[str, Any], now: Mapping[str, Any], path: str = "") -> list[str]:
    """
    >>> _differences({"version": "1", "policies": {}}, {"version": "2", "policies": {"oracle": {}}})
    ["version was '1', is '2'", 'policies oracle is new']
    """
    found = []
    for key in {**then, **now}:
        name, before, after = f"{path}{key}", then.get(key), now.get(key)
        if key not in then or key not in now:
            found.append(f"{name} is {'new' if key in now else 'missing'}")
        elif isinstance(before, dict) and isinstance(after, dict):
            found += _differences(before, after, f"{name} ")
        elif isinstance(before, list) and isinstance(after, list) and before != after:
            found.append(_list_difference(name, before, after))
        elif before != after:
            found.append(f"{name} was {before!r}, is {after!r}")
    return found


def _list_difference(name: str, before: Sequence[Any], after: Sequence[Any]) -> str:
    if len(before) != len(after):
        return f"{len(before)} {name}, now {len(after)}"
    first = next(i for i in range(len(after)) if before[i] != after[i])
    return f"{name} differ from the {first + 1}. on: was {before[first]}, is {after[first]}"
