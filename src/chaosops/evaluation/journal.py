"""The finished episodes of an evaluation, on disk as soon as they are played.

``episodes.jsonl``: a first line that identifies the job, then one episode a line, as it will
stand in results.json. After a kill, ``--resume`` plays the recorded decisions again in the
world, which is cheap, and asks policies only for what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from chaosops.core.chain import read_json
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.files import unwritable, write_bytes
from chaosops.core.scenario import Scenario
from chaosops.evaluation.job import as_json, changes, joined
from chaosops.evaluation.lines import JOURNAL_FORMAT, chained, episode_line, first_link, line_link
from chaosops.rubrics import standard
from chaosops.wire.episodes import from_record, record_of

JOURNAL_NAME = "episodes.jsonl"
_CURE = "repeat the arguments it was made with, or pass --force instead of --resume to start over"

Episodes = dict[str, dict[int, Episode]]  # by policy and by the scenario's number


class _Place(NamedTuple):
    policy: int
    scenario: int


class Journal:
    """Used as ``with Journal(path) as journal: evaluate(..., journal=journal)``."""

    def __init__(
        self,
        path: Path,
        *,
        resume: bool = False,
        say: Callable[[str], None] = lambda line: None,
        clear: Callable[[], None] = lambda: None,
    ) -> None:
        """``clear`` is called before a new journal is begun, when all policies are loaded."""
        self.path = path
        self._resume = resume
        self._say = say
        self._clear = clear
        self._file: FileIO | None = None
        self._link = ""
        self._places: list[_Place] = []
        # Each policy's status: before it was asked anything, after the stopped run, and now.
        self._first: dict[str, Any] = {}
        self._earlier: dict[str, Any] = {}
        self._now: dict[str, Any] = {}
        self._learned: dict[str, dict[int, Any]] = {}

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

    def open(self, job: Mapping[str, Any], scenarios: Sequence[Scenario]) -> Episodes:
        """The episodes of ``job`` that are finished already.

        ``job`` names its policies; with the scenarios it is what a resumed run must equal.
        """
        self._first, self._earlier = job["policies"], dict(job["policies"])
        self._learned = {policy: {} for policy in job["policies"]}
        lines = self._whole_lines() if self._resume else []
        finished: Episodes = {policy: {} for policy in job["policies"]}
        self._link = first_link(job)
        header = {"format": JOURNAL_FORMAT, "job": job, "chain": self._link}
        if lines:
            self._check_header(lines[0], job)
            good = self._read_episodes(lines[1:], job, scenarios, finished)
            if len(good) + 1 < len(lines):
                self._say(
                    f"{self.path}: damaged lines are left out ({len(lines) - 1 - len(good)}); "
                    "their episodes are played again"
                )
                self._rewrite(header, good)
        else:
            self._clear()
            self._rewrite(header, [])
        self._now = dict(self._earlier)
        self._append_from_last_line()
        if self._resume:
            done = sum(map(len, finished.values()))
            total = len(finished) * len(scenarios)
            self._say(f"resuming: {done} of {total} episodes were finished")
        return finished

    def add(self, policy: str, number: int, episode: Episode, status: Mapping[str, Any]) -> None:
        """A policy may learn from replies what it is (a server's revision, say): its status is
        written again whenever it has changed."""
        if status != self._now[policy]:
            now = self._status(policy, status)
            if now != self._now[policy]:
                self._learned[policy][number] = self._now[policy] = now
        line = episode_line(self._link, policy, episode, self._learned[policy].get(number))
        self._append(_encoded(line))
        self._link = line["chain"]
        self._places.append(self._place(policy, number))

    def finish(self) -> None:
        """Episodes that were played again, after damage, stand at the end: put all in order."""
        if self._places == sorted(self._places):
            return
        header, *lines = [read_json(line) for line in self._whole_lines()]
        in_order = sorted(zip(self._places, lines, strict=True), key=lambda pair: pair[0])
        self._rewrite(header, [line for _, line in in_order])

    def learned(self) -> dict[str, dict[int, Any]]:
        """The statuses that were written with episodes."""
        return {policy: dict(of) for policy, of in self._learned.items() if of}

    def with_earlier(self, statuses: Mapping[str, Any]) -> dict[str, Any]:
        """The policies' statuses at the end, with what only the stopped run had learned."""
        return {policy: self._status(policy, status) for policy, status in statuses.items()}

    def _status(self, policy: str, now: Mapping[str, Any]) -> Any:
        return joined(self._first[policy], self._earlier[policy], as_json(now))

    def _place(self, policy: str, number: int) -> _Place:
        return _Place(list(self._first).index(policy), number)

    def _append_from_last_line(self) -> None:
        try:
            self._file = FileIO(self.path, "r+")
            # New lines follow the last whole one.
            self._file.truncate(sum(len(line) + 1 for line in self._whole_lines()))
            self._file.seek(0, 2)
        except OSError as error:
            raise unwritable(self.path, error) from None

    def _append(self, line: bytes) -> None:
        """Unbuffered: what the system has survives a kill of this process."""
        assert self._file is not None, "open() comes first"
        end = self._file.tell()
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(end)
            raise BadInput(
                f"{unwritable(self.path, error)}; every finished episode is kept, "
                "--resume goes on from there"
            ) from None

    def _rewrite(self, header: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> None:
        self._link = header["chain"]
        content = _encoded(header)
        for line in lines:
            again = chained(self._link, line)
            content += _encoded(again)
            self._link = again["chain"]
        write_bytes(self.path, content)

    def _whole_lines(self) -> list[bytes]:
        """A line that a kill cut off has no end; it is left out."""
        try:
            return self.path.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BadInput(f"cannot read {self.path}: {error.strerror or error}") from None

    def _check_header(self, line: bytes, job: Mapping[str, Any]) -> None:
        header = decoded(line)
        if header is None or not isinstance(header.get("job"), dict):
            raise BadInput(f"{self.path} is not a journal of chaosops eval; {_CURE}")
        if header.get("format") != JOURNAL_FORMAT:
            raise BadInput(f"{self.path} is of another version of chaosops; {_CURE}")
        if found := changes(header["job"], job):
            raise BadInput(f"{self.path} is of another job: {found}; {_CURE}")

    def _read_episodes(
        self,
        lines: Sequence[bytes],
        job: Mapping[str, Any],
        scenarios: Sequence[Scenario],
        finished: Episodes,
    ) -> list[dict[str, Any]]:
        """The lines that are whole, unchanged and of this job; their episodes are ``finished``."""
        rubric = standard()
        good = []
        waiting = [scenario.to_wire() for scenario in scenarios]
        previous: str | None = self._link  # None after a line without one
        for raw in lines:
            line = decoded(raw)
            before, previous = previous, _chain(line)
            if line is None or previous is None:
                continue
            if before is not None and line_link(before, line) != previous:
                continue
            policy = str(line.get("policy"))
            number = _next_of(line.get("scenario"), waiting, finished.get(policy))
            if number is None:
                continue
            try:
                pack_hash = job["packs"][scenarios[number].pack]["hash"]
                episode = from_record(record_of(line, pack_hash), rubric=rubric)
            except BadInput:
                continue
            finished[policy][number] = episode
            if isinstance(status := line.get("status"), dict):
                self._earlier[policy] = self._learned[policy][number] = status
            self._places.append(self._place(policy, number))
            self._link = previous
            good.append(line)
        return good


def decoded(line: bytes) -> dict[str, Any] | None:
    try:
        content = read_json(line)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _chain(line: Mapping[str, Any] | None) -> str | None:
    chain = None if line is None else line.get("chain")
    return chain if isinstance(chain, str) else None


def _encoded(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def _next_of(
    scenario: object, waiting: Sequence[object], finished: Mapping[int, Episode] | None
) -> int | None:
    """Which of the policy's episodes this is; None: none that is still missing."""
    if finished is None:
        return None
    # Almost always the next one; a matrix may hold a scenario twice.
    numbers = (len(finished), *range(len(waiting)))
    free = (n for n in numbers if n < len(waiting) and n not in finished)
    return next((n for n in free if waiting[n] == scenario), None)
