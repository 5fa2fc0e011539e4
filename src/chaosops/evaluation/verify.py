"""Recompute every figure of a result, and name what differs.

The chain shows edits. It has no key, so anybody can recompute it. So everything that the world and
the scripts can reproduce is also compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from chaosops.core import episode as played
from chaosops.core.chain import read_json
from chaosops.core.errors import BadInput
from chaosops.evaluation.claims import (
    check_job,
    check_manifest,
    check_status,
    check_stopped,
    present_packs,
)
from chaosops.evaluation.evaluate import coverage
from chaosops.evaluation.findings import Episode, Finding, differences, plain, shown
from chaosops.evaluation.own_policies import own_policies
from chaosops.evaluation.replaying import replay_lines, replay_record
from chaosops.evaluation.results import DERIVED, JOURNAL_NAME, RESULTS_NAME, Results, first_link
from chaosops.evaluation.secret import Secret
from chaosops.evaluation.signature import SIGNATURE_NAME, mapping_problems, signature_problems
from chaosops.evaluation.stored import (
    Line,
    Stored,
    agreement,
    check_recording,
    journal_chain,
    read_journal,
    read_results,
    results_chain,
    results_file,
    statuses,
)
from chaosops.packs import PACKS
from chaosops.wire.recordings import UNCHAINED, recorded_content, recorded_rubric
from chaosops.workers import Pool, in_order

Progress = Callable[[int, int], None]
# Takes the results and the files beside results.json. Returns those files as they should be.
Derive = Callable[[Results, Mapping[str, str]], Mapping[str, str]]


@dataclass
class Report:
    """``notes`` are not findings, but a reader should know them. ``ask_own``: policies of
    somebody's own are imported and asked again. ``pool`` replays the episodes."""

    place: Path
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    episodes: int = 0
    head: str | None = None
    ask_own: bool = False
    pool: Pool | None = None

    def tell(self, file: str, problems: Iterable[str]) -> None:
        self.findings += [Finding(file, what) for what in problems]

    def to_wire(self) -> dict[str, Any]:
        return {
            "place": str(self.place),
            "episodes": self.episodes,
            "head": self.head,
            "findings": [finding.to_wire() for finding in self.findings],
            "notes": self.notes,
        }


def verify_folder(
    folder: Path,
    derive: Derive,
    progress: Progress,
    *,
    ask_own: bool = False,
    pool: Pool | None = None,
) -> Report:
    """An evaluation: results.json with the files beside it, its journal, or both."""
    report = Report(folder, ask_own=ask_own, pool=pool)
    journal = read_journal(folder / JOURNAL_NAME) if (folder / JOURNAL_NAME).is_file() else None
    if results_file(folder) is None:
        assert journal is not None, "the caller has looked"
        _verify_stopped(report, journal, progress)
        report.findings += _unwanted(folder, DERIVED)
        return report
    stored = read_results(folder)
    if journal is None:
        report.notes.append(f"no {JOURNAL_NAME}: {RESULTS_NAME} is verified alone")
    else:
        report.findings += journal_chain(*journal)
        report.findings += agreement(stored, journal)
        report.tell(RESULTS_NAME, check_job(journal[0]["job"], stored[1]))
    if results := _verify_results(report, stored, progress):
        report.findings += _derived(folder, results, derive)
    return report


def stored_results(folder: Path | str, progress: Progress = lambda done, total: None) -> Results:
    """The results in ``folder``, played again. An episode that was changed is an error."""
    folder = Path(folder)
    report = Report(folder)
    results = _verify_results(report, read_results(folder), progress)
    if report.findings or results is None:
        raise BadInput(f"{folder}: {report.findings[0]}; chaosops verify {folder} lists everything")
    return results


def _verify_results(report: Report, stored: Stored, progress: Progress) -> Results | None:
    """The results as this world plays them. None if some episodes cannot be played."""
    manifest, lines = stored
    report.head = manifest["chain"].get("head")
    report.findings += results_chain(manifest, lines)
    report.tell(RESULTS_NAME, check_manifest(manifest, lines))
    episodes = _replay_all(report, RESULTS_NAME, manifest, lines, progress)
    if episodes is None:
        return None
    scenarios = [episode.scenario for episode in next(iter(episodes.values()), [])]
    for name, value in coverage(scenarios).items():
        changed = islice(differences(manifest.get(name), value, (name,)), 1)
        report.tell(RESULTS_NAME, (f"the manifest's {found.words()}" for found in changed))
    return Results(manifest, episodes)


def _verify_stopped(report: Report, journal: Stored, progress: Progress) -> None:
    header, lines = journal
    job = header["job"]
    report.notes.append(f"no {RESULTS_NAME}: the evaluation has not ended")
    report.head = str(lines[-1].get("chain")) if lines else first_link(job)
    report.findings += journal_chain(header, lines)
    report.tell(JOURNAL_NAME, check_stopped(job, lines))
    known = {**job, "policies": statuses(job, lines)}
    _replay_all(report, JOURNAL_NAME, known, lines, progress)


def verify_private(report: Report, secret: Secret) -> None:
    """Check that signature and seeds of a submission to a private split are those of the secret."""
    if results_file(report.place) is None:
        report.tell(report.place.name, [f"no {RESULTS_NAME}, so nothing signed"])
        return
    manifest, lines = read_results(report.place)
    problems = signature_problems(report.place, secret)
    seeds = mapping_problems(manifest, lines, secret)
    report.tell(SIGNATURE_NAME, problems)
    report.tell(RESULTS_NAME, seeds)
    if not problems and not seeds:
        known = f"signature and seeds are those of the secret sha256:{secret.commitment}"
        report.notes.append(known)


def verify_recording(path: Path, *, ask_own: bool = False) -> Report:
    """One episode in a file of its own."""
    report = Report(path, ask_own=ask_own)
    content = recorded_content(path)
    record, manifest = content["episode"], content["manifest"]
    if content["format"] == UNCHAINED:
        report.notes.append("it has no chain: an edit that replays as well is not shown")
    else:
        report.findings += check_recording(path.name, content)
    status = manifest.get("policy_status")
    if status is not None:
        report.tell(path.name, check_status(str(record.get("team")), status))
    status = status if isinstance(status, dict) else {}
    own, notes = own_policies({str(record.get("team")): status}, ask=ask_own)
    report.notes += notes
    try:
        rubric = recorded_rubric(manifest)
        _, found = replay_record(path.name, record, status, own, rubric)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    report.findings += found
    scenario = record["scenario"]
    report.notes += _worlds({str(scenario["pack"]): record["pack_hash"]}, [scenario])
    report.episodes = 1
    return report


def _replay_all(
    report: Report,
    file: str,
    manifest: Mapping[str, Any],
    lines: Sequence[Line],
    progress: Progress,
) -> dict[str, list[played.Episode]] | None:
    """The episodes as this world plays them. None if some cannot be played."""
    hashes = {name: str(of["hash"]) for name, of in manifest["packs"].items()}
    report.notes += _worlds(hashes, [line.get("scenario") for line in lines])
    _, notes = own_policies(manifest["policies"], ask=report.ask_own)
    report.notes += notes
    episodes: dict[str, list[played.Episode]] = {policy: [] for policy in manifest["policies"]}
    whole = True
    known = {name: manifest[name] for name in ("packs", "policies", "rewards") if name in manifest}
    work = partial(replay_lines, file, known, report.ask_own)
    replayed = in_order(report.pool, work, lines)
    for done, (line, (again, found)) in enumerate(zip(lines, replayed, strict=True), 1):
        if again is None:
            whole = False
        else:
            episodes[Episode.of(line).policy].append(again)
        report.findings += found
        report.episodes = done
        progress(done, len(lines))
    return episodes if whole else None


def _worlds(hashes: Mapping[str, str], scenarios: Sequence[Any]) -> list[str]:
    present = present_packs(scenarios)
    missing = [
        f"pack {plain(name)} is not installed: install the package that brings it, and verify again"
        for name in hashes
        if name not in PACKS
    ]
    return missing + [
        f"the code of pack {name} has changed since this was played (hash {shown(was)}, now "
        f"{present[name]['hash']!r}); an episode that does not replay may be due to that"
        for name, was in hashes.items()
        if name in present and present[name]["hash"] != was
    ]


def _derived(folder: Path, results: Results, derive: Derive) -> Iterator[Finding]:
    stored = {}
    for name in DERIVED:
        try:
            stored[name] = (folder / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            yield Finding(name, f"cannot be read: {error}")
            return
    try:
        wanted = derive(results, stored)
    except (BadInput, KeyError, TypeError, ValueError, AttributeError) as error:
        # A manifest without its fields, or policies that did not play the same.
        yield Finding(RESULTS_NAME, f"the files beside it cannot be recomputed: {error!r}")
        return
    yield from _unwanted(folder, [name for name in DERIVED if name not in wanted])
    for name, text in wanted.items():
        if name not in stored:
            yield Finding(name, "is missing")
        elif name.endswith(".json"):
            yield from _json_differences(name, stored[name], json.loads(text))
        elif stored[name] != text:
            yield Finding(name, _line_difference(stored[name], text))


def _json_differences(name: str, recorded: str, content: Any) -> Iterator[Finding]:
    try:
        was = read_json(recorded)
    except ValueError as error:
        yield Finding(name, f"cannot be read: {error}")
        return
    for found in differences(was, content):
        row, skip = _row(content, found.path)
        yield Finding(name, row + found.words(skip))


def _unwanted(folder: Path, names: Sequence[str]) -> Iterator[Finding]:
    for name in names:
        if (folder / name).exists():
            yield Finding(name, "does not follow from these episodes: it should not exist")


def _row(rows: Any, path: Sequence[str | int]) -> tuple[str, int]:
    """Policy and tier of the row that a path leads into, and the depth of the row."""
    for depth, part in enumerate(path, 1):
        try:
            rows = rows[part]
        except (KeyError, IndexError, TypeError):
            break
        if isinstance(rows, dict) and "policy" in rows and "tier" in rows:
            return plain(f"{rows['policy']}, {rows['tier']}: "), depth
    return "", 0


def _line_difference(recorded: str, wanted: str) -> str:
    lines = zip_longest(wanted.splitlines(), recorded.splitlines(), fillvalue="")
    for number, (now, was) in enumerate(lines, 1):
        if now != was:
            first = next(i for i, (a, b) in enumerate(zip_longest(now, was)) if a != b)
            near = slice(max(0, first - 20), first + 20)
            words = f"{shown(now[near])}, recorded {shown(was[near])}"
            return f"line {number}, column {first + 1} is {words}"
    return "ends of lines were changed"
