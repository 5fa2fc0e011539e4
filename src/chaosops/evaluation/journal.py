"""The finished episodes of an evaluation, on disk as soon as they are played.

The first line of ``episodes.jsonl`` identifies the job. Each other line is an episode, as in
results.json. After a kill, ``--resume`` replays the recorded decisions in the world, which is
cheap, and asks policies only for what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

from chaosops.core.chain import read_json
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.files import unwritable, write_bytes
from chaosops.core.retired import retired
from chaosops.evaluation.findings import differences
from chaosops.evaluation.results import JOURNAL_FORMAT, Results, chained, episode_line, first_link
from chaosops.policies.llm.formats import formats_of
from chaosops.rubrics import priced
from chaosops.wire.episodes import from_record, record_of

_CURE = "repeat the arguments it was made with, or pass --force instead of --resume to start over"
_ANOTHER = "choose another --out, or pass --force instead of --resume to start over"
_SHOWN = 4

Episodes = dict[str, dict[int, Episode]]  # by policy and by the scenario's number


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
        """``clear`` is called before a new journal is started, after all policies are loaded."""
        self.path = path
        self._resume = resume
        self._say = say
        self._clear = clear
        self._file: FileIO | None = None
        self._header: dict[str, Any] = {}
        self._link = ""
        # Each policy's status before it was asked anything, after the stopped run, and now.
        self._first: dict[str, Any] = {}
        self._earlier: dict[str, Any] = {}
        self._now: dict[str, Any] = {}
        self.learned: dict[str, dict[int, Any]] = {}  # the statuses written with episodes

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    def open(self, job: Mapping[str, Any]) -> Episodes:
        """The episodes of ``job`` that are finished already. A resumed run must have the same job:
        policies, scenarios, version."""
        self._first, self._earlier = job["policies"], dict(job["policies"])
        self.learned = {policy: {} for policy in job["policies"]}
        self._header = {"format": JOURNAL_FORMAT, "job": job, "chain": first_link(job)}
        finished: Episodes = {policy: {} for policy in job["policies"]}
        lines = whole_lines(self.path) if self._resume else []
        good = []
        if lines:
            self._check_header(lines[0], job)
            good = self._read_episodes(lines[1:], job, finished)
            if damaged := len(lines) - 1 - len(good):
                self._say(
                    f"{self.path}: damaged lines are left out ({damaged}); "
                    "their episodes are played again"
                )
        else:
            self._clear()
        if len(lines) != len(good) + 1:
            self._rewrite(good)
        self._now = dict(self._earlier)
        self._append_from_last_line()
        if self._resume:
            done, total = sum(map(len, finished.values())), len(finished) * len(job["scenarios"])
            self._say(f"resuming: {done} of {total} episodes were finished")
        return finished

    def add(self, policy: str, number: int, episode: Episode, status: Mapping[str, Any]) -> None:
        """Write an episode. A policy's status may change with a reply, for example when a server
        names its revision. It is written again whenever it has changed."""
        now = self.status(policy, status)
        if now != self._now[policy]:
            self.learned[policy][number] = self._now[policy] = now
        line = episode_line(self._link, policy, episode, self.learned[policy].get(number))
        self._append(_encoded(line))
        self._link = line["chain"]

    def finish(self, results: Results) -> None:
        """Put all lines in order: episodes that were played again after damage are at the end."""
        lines = list(results.lines())
        if lines[-1]["chain"] != self._link:
            self._rewrite(lines)

    def status(self, policy: str, now: Mapping[str, Any]) -> Any:
        """The policy's status, with facts that only the stopped run knew."""
        return joined(self._first[policy], self._earlier[policy], as_json(now))

    def _append_from_last_line(self) -> None:
        try:
            self._file = FileIO(self.path, "r+")
            # New lines are written after the last whole line.
            self._file.truncate(sum(len(line) + 1 for line in whole_lines(self.path)))
            self._file.seek(0, 2)
        except OSError as error:
            raise unwritable(self.path, error) from None

    def _append(self, line: bytes) -> None:
        """Write without a buffer, so that a line survives a kill of this process."""
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

    def _rewrite(self, lines: Sequence[Mapping[str, Any]]) -> None:
        again: list[Mapping[str, Any]] = [self._header]
        for line in lines:
            again.append(chained(again[-1]["chain"], line))
        self._link = again[-1]["chain"]
        write_bytes(self.path, b"".join(map(_encoded, again)))

    def _check_header(self, line: bytes, job: Mapping[str, Any]) -> None:
        header = decoded(line)
        if header is None or not isinstance(header.get("job"), dict):
            raise BadInput(f"{self.path} is not a journal of chaosops eval; {_CURE}")
        if header.get("format") != JOURNAL_FORMAT:
            raise BadInput(f"{self.path} is of another version of chaosops; {_CURE}")
        self._require_versions(header["job"].get("packs"), job["packs"])
        if found := changes(header["job"], job):
            raise BadInput(f"{self.path} is of another job: {found}; {_CURE}")

    def _require_versions(self, recorded: Any, present: Mapping[str, Any]) -> None:
        """Refuse a folder with results of another version of a pack."""
        for name, pack in present.items():
            held = recorded.get(name) if isinstance(recorded, dict) else None
            version = held.get("version") if isinstance(held, dict) else None
            if not isinstance(version, str) or version == pack["version"]:
                continue
            if told := retired(name, version):
                raise BadInput(f"{self.path.parent} holds results of {told}, or {_ANOTHER}")
            raise BadInput(
                f"{self.path.parent} holds results of pack {name} version {version}, and these "
                f"arguments play version {pack['version']}; {_ANOTHER}"
            )

    def _read_episodes(
        self, lines: Sequence[bytes], job: Mapping[str, Any], finished: Episodes
    ) -> list[dict[str, Any]]:
        """The whole, unchanged lines of this job. Their episodes are added to ``finished``."""
        rubric = priced(job.get("rewards", {}))
        formats = formats_of(job["policies"])
        numbers = {_text(scenario): number for number, scenario in enumerate(job["scenarios"])}
        good = []
        self._link = previous = self._header["chain"]
        for raw in lines:
            line = decoded(raw) or {}
            before, previous = previous, line.get("chain")
            # After a line without a link, the next line's link cannot be checked.
            if not isinstance(previous, str) or (
                isinstance(before, str) and chained(before, line)["chain"] != previous
            ):
                continue
            policy, number = str(line.get("policy")), numbers.get(_text(line.get("scenario")))
            if number is None or number in finished.get(policy, {number}):
                continue
            try:
                pack_hash = job["packs"][line["scenario"]["pack"]]["hash"]
                record = record_of(line, pack_hash)
                episode = from_record(record, rubric=rubric, formats=formats)
            except BadInput:
                continue
            finished[policy][number] = episode
            if isinstance(status := line.get("status"), dict):
                self._earlier[policy] = self.learned[policy][number] = status
            self._link = previous
            good.append(line)
        return good


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file. A last line without its end was cut off by a kill and is left out."""
    try:
        return path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None


def decoded(line: bytes) -> dict[str, Any] | None:
    try:
        content = read_json(line)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _encoded(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def _text(scenario: object) -> str:
    return json.dumps(scenario, sort_keys=True)


def as_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data as JSON returns it: tuples become lists, keys strings."""
    content: dict[str, Any] = json.loads(json.dumps(data))
    return content


def joined(first: Any, earlier: Any, now: Any) -> Any:
    """
    >>> joined({"revision": None}, {"revision": "a"}, {"revision": None})
    {'revision': 'a'}
    >>> joined({"revision": None}, {"revision": "a"}, {"revision": "b"})
    {'revision': 'a, then b'}
    """
    if isinstance(first, dict) and isinstance(earlier, dict) and isinstance(now, dict):
        return {
            key: joined(first.get(key), earlier.get(key), now.get(key)) for key in now | earlier
        }
    if now in (earlier, first) or str(earlier).endswith(f", then {now}"):
        return earlier
    return now if earlier == first else f"{earlier}, then {now}"


def changes(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """How this job differs from the recorded one. Empty if it does not.

    >>> changes({"version": "1", "policies": {}}, {"version": "2", "policies": {"oracle": {}}})
    "version was '1', is '2'; policies oracle is new"
    """
    found = list(differences(then, now))
    named = "; ".join(one.change() for one in found[:_SHOWN])
    return named + (f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
