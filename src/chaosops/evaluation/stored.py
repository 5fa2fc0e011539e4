"""Read the files of an evaluation, and check their chains. Nothing in them is trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from chaosops.core.chain import read_json
from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_text
from chaosops.core.retired import require_played
from chaosops.evaluation.findings import Episode, Finding, differences
from chaosops.evaluation.journal import decoded, whole_lines
from chaosops.evaluation.results import (
    COMPRESSED_NAME,
    JOURNAL_FORMAT,
    JOURNAL_NAME,
    RESULTS_NAME,
    chained,
    first_link,
    sealed_manifest,
)
from chaosops.wire.recordings import recording_chain

Line = Mapping[str, Any]
Stored = tuple[Mapping[str, Any], Sequence[Line]]  # a manifest or a journal's header, and episodes


def results_file(folder: Path) -> Path | None:
    """The results in a folder: plain, or compressed."""
    found = [folder / name for name in (RESULTS_NAME, COMPRESSED_NAME) if (folder / name).is_file()]
    if len(found) > 1:
        raise BadInput(f"{folder} holds {RESULTS_NAME} and {COMPRESSED_NAME}; remove one of them")
    return found[0] if found else None


def read_results(folder: Path) -> Stored:
    """Manifest and episodes."""
    path = results_file(folder) or folder / RESULTS_NAME
    try:
        content = read_json(read_text(path, "results"))
    except ValueError as error:
        raise BadInput(f"{path} is not a results file of chaosops eval: {error}") from None
    content = content if isinstance(content, dict) else {}
    manifest: Any = content.get("manifest")
    lines: Any = content.get("episodes")
    if not _is_job(manifest) or not _are_objects(lines):
        raise BadInput(f"{path} is not a results file of chaosops eval")
    require_played(str(path), packs_of(manifest))
    if not isinstance(manifest.get("chain"), dict) or "start" not in manifest["chain"]:
        raise BadInput(
            f"{path} has no chain: it was made by an earlier version, which kept neither "
            "suspicion nor hashes; evaluate again to get results that can be verified"
        )
    return manifest, lines


def read_journal(path: Path) -> Stored:
    """Header and episodes. A line that cannot be read becomes an empty episode."""
    header, *lines = [decoded(line) or {} for line in whole_lines(path)] or [{}]
    if header.get("format") != JOURNAL_FORMAT or not _is_job(header.get("job")):
        raise BadInput(f"{path} is not a journal of this version of chaosops eval")
    require_played(str(path), packs_of(header["job"]))
    return header, lines


def packs_of(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and version of each pack that a manifest or a journal names."""
    packs = manifest.get("packs", {})
    return [(name, str(of.get("version", ""))) for name, of in packs.items()]


def _is_job(job: Any) -> bool:
    """Whether it names packs with their hashes, and policies."""
    return (
        isinstance(job, dict)
        and all(
            isinstance(of, dict) and _are_objects([*of.values()])
            for of in (job.get("packs"), job.get("policies"))
        )
        and all(isinstance(pack.get("hash"), str) for pack in job["packs"].values())
    )


def _are_objects(lines: Any) -> bool:
    return isinstance(lines, list) and all(isinstance(line, dict) for line in lines)


def check_recording(name: str, content: Mapping[str, Any]) -> Iterator[Finding]:
    links, recorded = recording_chain(content), content.get("chain")
    if not isinstance(recorded, list) or len(recorded) != len(links):
        yield Finding(name, "the chain has not one link for each decision: it was changed")
        return
    episode = Episode.of({**content["episode"], "policy": content["episode"].get("team")})
    named = {0: "team, scenario, pack hash or reward", len(links) - 1: "the manifest"}
    changed = (i for i, pair in enumerate(zip(recorded, links, strict=True)) if pair[0] != pair[1])
    for place in islice(changed, 1):  # all later links differ too
        what = f"{named.get(place, 'the decision')} was changed: its link does not fit"
        yield Finding(name, what, episode, None if place in named else place)


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
        if chained(previous, line)["chain"] != recorded:
            what = "was changed, or is not the episode that stood here: its link does not fit"
            yield Finding(file, what, Episode.of(line))
        previous = recorded  # so that only the changed line is named


def agreement(results: Stored, journal: Stored) -> Iterator[Finding]:
    """Compare the journal with results.json, which holds the same lines."""
    (manifest, lines), (header, others) = results, journal
    job = header["job"]
    if first_link(job) != manifest["chain"].get("start"):
        yield Finding(RESULTS_NAME, f"is of another run than {JOURNAL_NAME}: another start")
    if len(lines) != len(others):
        what = f"holds {len(lines)} episodes, {JOURNAL_NAME} {len(others)}"
        yield Finding(RESULTS_NAME, what)
    for line, other in zip(lines, others, strict=False):
        changed = (found for found in differences(line, other) if found.path != ("chain",))
        if line != other and (found := next(changed, None)):
            turn, words = found.in_turn()
            what = f"differs from {JOURNAL_NAME}: there {words} here"
            yield Finding(RESULTS_NAME, what, Episode.of(line), turn)
    then = {**job, "policies": statuses(job, others)}
    for name in ("version", "commit", "packs", "policies", "rewards"):
        for found in differences(manifest.get(name), then.get(name), (name,)):
            what = f"the manifest differs from {JOURNAL_NAME}: there {found.words()} here"
            yield Finding(RESULTS_NAME, what)


def statuses(job: Mapping[str, Any], lines: Sequence[Line]) -> dict[str, Any]:
    """The last status of each policy: it may have changed while playing."""
    statuses = dict(job["policies"])
    for line in lines:
        if isinstance(line.get("status"), dict):
            statuses[str(line.get("policy"))] = line["status"]
    return statuses
