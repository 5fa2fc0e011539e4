"""Check the chains of results.json, of a journal, of both together, and of a recording."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chaosops.evaluation.findings import Episode, Finding, differences
from chaosops.evaluation.journal import JOURNAL_NAME
from chaosops.evaluation.lines import JOURNAL_FORMAT, first_link, line_link
from chaosops.evaluation.results import RESULTS_NAME, sealed_manifest
from chaosops.evaluation.stored import Line
from chaosops.wire.recordings import recording_chain


def check_recording(name: str, content: Mapping[str, Any]) -> Iterator[Finding]:
    links, recorded = recording_chain(content), content.get("chain")
    if not isinstance(recorded, list) or len(recorded) != len(links):
        yield Finding(name, "the chain has not one link for each decision: it was changed")
        return
    episode = Episode.of({**content["episode"], "policy": content["episode"].get("team")})
    for place, (was, now) in enumerate(zip(recorded, links, strict=True)):
        if was != now:
            # All that follow differ with it.
            what = "team, scenario, pack hash or reward" if place == 0 else "the decision"
            what = "the manifest" if place == len(links) - 1 else what
            turn = place if 0 < place < len(links) - 1 else None
            yield Finding(name, f"{what} was changed: its link does not fit", episode, turn)
            return


def results_chain(manifest: Mapping[str, Any], lines: Sequence[Line]) -> Iterator[Finding]:
    start = str(manifest["chain"].get("start"))
    yield from _line_chain(RESULTS_NAME, start, lines)
    last = str(lines[-1].get("chain")) if lines else start
    if sealed_manifest(manifest, last) != manifest:
        what = "the head does not fit: the manifest was changed, or episodes at the end are missing"
        yield Finding(RESULTS_NAME, what)


def journal_chain(header: Mapping[str, Any], lines: Sequence[Line]) -> Iterator[Finding]:
    start = first_link(header["job"])
    if header != {"format": JOURNAL_FORMAT, "job": header["job"], "chain": start}:
        yield Finding(JOURNAL_NAME, "the first line was changed: its link does not fit")
    yield from _line_chain(JOURNAL_NAME, start, lines)


def _line_chain(file: str, start: str, lines: Sequence[Line]) -> Iterator[Finding]:
    previous = start
    for line in lines:
        recorded = str(line.get("chain"))
        if line_link(previous, line) != recorded:
            what = "was changed, or is not the episode that stood here: its link does not fit"
            yield Finding(file, what, Episode.of(line))
        previous = recorded  # so that only what was changed is named


def agreement(
    manifest: Mapping[str, Any],
    lines: Sequence[Line],
    header: Mapping[str, Any],
    journal: Sequence[Line],
) -> Iterator[Finding]:
    """Journal and results.json are two copies of the same lines."""
    job = header["job"]
    if first_link(job) != manifest["chain"].get("start"):
        yield Finding(RESULTS_NAME, f"is of another run than {JOURNAL_NAME}: another start")
    if len(lines) != len(journal):
        what = f"holds {len(lines)} episodes, {JOURNAL_NAME} {len(journal)}"
        yield Finding(RESULTS_NAME, what)
    for line, other in zip(lines, journal, strict=False):
        if line == other:
            continue
        for found in differences(line, other):
            if found.path == ("chain",):
                continue
            in_turn = len(found.path) > 2 and found.path[0] == "turns"
            turn = int(found.path[1]) + 1 if in_turn else None
            words = found.words(skip=2 if in_turn else 0)
            what = f"differs from {JOURNAL_NAME}: there {words} here"
            yield Finding(RESULTS_NAME, what, Episode.of(line), turn)
            break
    then = {**job, "policies": statuses(job, journal)}
    for name in ("version", "commit", "packs", "policies"):
        for found in differences(manifest.get(name), then.get(name), (name,)):
            what = f"the manifest differs from {JOURNAL_NAME}: there {found.words()} here"
            yield Finding(RESULTS_NAME, what)


def statuses(job: Mapping[str, Any], lines: Sequence[Line]) -> dict[str, Any]:
    """What the policies were, with what they learned while playing."""
    statuses = dict(job["policies"])
    for line in lines:
        if isinstance(line.get("status"), dict):
            statuses[str(line.get("policy"))] = line["status"]
    return statuses
