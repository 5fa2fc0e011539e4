"""``chaosops verify``: exit code 0 if nothing was changed, 1 if something was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from chaosops.cli.options import File, WorkerCount
from chaosops.cli.output import print_result
from chaosops.cli.progress import Progress
from chaosops.core.errors import BadInput
from chaosops.evaluation.findings import Finding
from chaosops.evaluation.results import (
    COMPRESSED_NAME,
    DERIVED,
    JOURNAL_NAME,
    MONITOR,
    RESULTS_NAME,
    SUMMARY,
    Results,
)
from chaosops.evaluation.secret import Secret, read_secret
from chaosops.evaluation.verify import Report, verify_folder, verify_private, verify_recording
from chaosops.report.transcript import count
from chaosops.report.written import derived_files, judged
from chaosops.workers import Engine, Pool, open_workers

_EVALUATION = (RESULTS_NAME, COMPRESSED_NAME, JOURNAL_NAME)
_SHOWN = 50  # findings of one place; --json has all


def execute(
    place: list[Path],
    /,
    *,
    json: bool = False,
    secret: File | None = None,
    own_policies: bool = False,
    workers: WorkerCount = None,
) -> int:
    """
    Args:
        place: a folder of chaosops eval, or a recording of run --record
        json: print every finding as JSON
        secret: secret of a private split, to check the signature and the episodes
        own_policies: import the policies of your own that the results name, and ask them again
        workers: processes that replay the episodes [default: this one]
    """
    # All places are found before any is replayed, so that errors come early.
    places = list(dict.fromkeys(found for given in place for found in _places(given)))
    opened = read_secret(secret, private=False) if secret else None
    alone = len(places) == 1
    with open_workers(Engine(workers)) as pool:
        verify = partial(_verify, secret=opened, alone=alone, ask_own=own_policies, pool=pool)
        reports = [verify(each) for each in places]
    reports += [Report(of, notes=notes) for of in place if (notes := _skipped(of))]
    found = sum(len(report.findings) for report in reports)
    episodes = count(sum(report.episodes for report in reports), "episode")
    where = count(len(places), "place")
    end = f"FORGED or damaged: {count(found, 'finding')}" if found else "nothing was changed"
    lines = [line for report in reports for line in _lines(report)]
    lines.append(f"verified {episodes} in {where}: {end}")
    print_result([report.to_wire() for report in reports], lines, as_json=json)
    return 1 if found else 0


def _places(given: Path) -> Iterator[Path]:
    """The folders of evaluations and the single recordings in the given places."""
    if given.is_file():
        yield given.parent if given.name in _EVALUATION else given
        return
    if not given.is_dir():
        raise BadInput(f"cannot read {given}: no such file or folder")
    files = sorted(path for path in given.rglob("*.json*") if path.is_file())
    folders = {path.parent for path in files if path.name in _EVALUATION}
    recordings = [path for path in files if path.stem.isdigit()]
    if not folders and not recordings:
        raise BadInput(
            f"{given} holds neither {RESULTS_NAME} nor {JOURNAL_NAME} of chaosops eval; "
            "name a folder of an evaluation, or a recording"
        )
    yield from sorted(folders)
    yield from recordings


def _skipped(given: Path) -> list[str]:
    """Files and folders that look as if they were verified, but were not."""
    if not given.is_dir():
        return []
    notes = []
    for folder in (given, *sorted(path for path in given.rglob("*") if path.is_dir())):
        if folder.is_symlink() and folder != given:
            notes.append(f"{folder} is a link to a folder: not verified, name it to verify it")
            continue
        held = {path.name for path in folder.iterdir()}
        if held.isdisjoint(_EVALUATION) and (left := held & set(DERIVED)):
            files = ", ".join(sorted(left))
            notes.append(f"{folder} holds {files} without {RESULTS_NAME}: not verified")
    return notes


def _verify(
    place: Path, *, secret: Secret | None, alone: bool, ask_own: bool, pool: Pool | None
) -> Report:
    try:
        report = _verify_place(place, ask_own, pool)
        if secret is not None:
            verify_private(report, secret)
    except BadInput as error:
        if alone:
            raise
        # The other places are still reported.
        return Report(place, [Finding(place.name, f"cannot be verified: {error}")])
    return report


def _verify_place(place: Path, ask_own: bool, pool: Pool | None) -> Report:
    if place.is_file():
        return verify_recording(place, ask_own=ask_own)

    def derive(results: Results, stored: Mapping[str, str]) -> dict[str, str]:
        progress.update(f"{place}: recomputing the figures", 0, None)
        monitors = judged(results, stored.get(MONITOR), pool)
        return derived_files(results, monitors, stored.get(SUMMARY))

    with Progress() as progress:
        tell = partial(progress.update, str(place))
        return verify_folder(place, derive, tell, ask_own=ask_own, pool=pool)


def _lines(report: Report) -> Iterator[str]:
    head = f", head {report.head}" if report.head else ""
    yield f"{report.place}: {count(report.episodes, 'episode')}{head}"
    for note in report.notes:
        yield f"  note: {note}"
    for finding in report.findings[:_SHOWN]:
        yield f"  {finding}"
    if len(report.findings) > _SHOWN:
        yield f"  ... and {len(report.findings) - _SHOWN} more; --json prints all"
