"""Read the files of an evaluation. Nothing in them is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chaosops.core.chain import read_json
from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_text
from chaosops.evaluation.journal import decoded
from chaosops.evaluation.lines import JOURNAL_FORMAT
from chaosops.evaluation.results import COMPRESSED_NAME, RESULTS_NAME

Line = Mapping[str, Any]


def results_file(folder: Path) -> Path | None:
    """The results in a folder: plain, or compressed."""
    found = [folder / name for name in (RESULTS_NAME, COMPRESSED_NAME) if (folder / name).is_file()]
    if len(found) > 1:
        raise BadInput(f"{folder} holds {RESULTS_NAME} and {COMPRESSED_NAME}; remove one of them")
    return found[0] if found else None


def read_results(folder: Path) -> tuple[dict[str, Any], list[Line]]:
    """Manifest and episodes."""
    path = results_file(folder) or folder / RESULTS_NAME
    try:
        content = read_json(read_text(path, "results"))
    except ValueError as error:
        raise BadInput(f"{path} is no results file of chaosops eval: {error}") from None
    content = content if isinstance(content, dict) else {}
    manifest: Any = content.get("manifest")
    lines: Any = content.get("episodes")
    if not _is_job(manifest) or not _are_lines(lines):
        raise BadInput(f"{path} is no results file of chaosops eval")
    if not isinstance(manifest.get("chain"), dict) or "start" not in manifest["chain"]:
        raise BadInput(
            f"{path} has no chain: it was made by an earlier version, which kept neither "
            "suspicion nor hashes; evaluate again to get results that can be verified"
        )
    return manifest, lines


def read_journal(path: Path) -> tuple[dict[str, Any], list[Line]]:
    """Header and episodes. A line that cannot be read becomes an empty one."""
    try:
        raw = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None
    lines = [decoded(line) for line in raw]
    header = lines[0] if lines else None
    if header is None or header.get("format") != JOURNAL_FORMAT or not _is_job(header.get("job")):
        raise BadInput(f"{path} is no journal of this version of chaosops eval")
    return header, [line if line is not None else {} for line in lines[1:]]


def _is_job(job: Any) -> bool:
    if not isinstance(job, dict):
        return False
    named = [job.get("packs"), job.get("policies")]
    if not all(isinstance(of, dict) for of in named):
        return False
    packs, policies = ([*of.values()] for of in named if of is not None)
    return all(isinstance(of, dict) for of in (*packs, *policies)) and all(
        isinstance(pack.get("hash"), str) for pack in packs
    )


def _are_lines(lines: Any) -> bool:
    return isinstance(lines, list) and all(isinstance(line, dict) for line in lines)
