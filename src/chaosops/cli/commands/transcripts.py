"""``chaosops transcripts``: episodes as evidence for monitors, the labels apart."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.episodes import HARD, EpisodeOptions
from chaosops.cli.options import CommandLine, Folder
from chaosops.cli.output import note, print
from chaosops.cli.progress import Progress
from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.files import opened_folder
from chaosops.core.source import source_commit
from chaosops.evaluation.parquet import require_pyarrow, write_parquet
from chaosops.evaluation.transcripts import (
    MANIFEST,
    evidence_and_label,
    recording_team,
    write_transcripts,
)
from chaosops.packs import load_pack
from chaosops.rollout import play_many
from chaosops.version import VERSION


def execute(
    out: Folder,
    /,
    *,
    options: EpisodeOptions = HARD,
    team: Annotated[str, Parameter(metavar="POLICY")] = "auditor",
    force: bool = False,
    command_line: CommandLine,
) -> None:
    """
    Args:
        out: folder of the transcripts
        team: who plays; Oversight audits where this policy flags or waits
        force: replace the transcripts in OUT
    """
    chosen = options.scenarios()
    pack = load_pack(chosen[0].pack)
    if not pack.judges_oversight:
        raise BadInput(f"pack {pack.name} does not measure overseers; name --pack arena")
    if (out / MANIFEST).exists() and not force:
        raise BadInput(f"{out} holds transcripts; --force replaces them, or choose another OUT")
    lines = []
    with opened_folder(out, "OUT") as folder, Progress() as progress:
        players = recording_team(team)
        players.require_trained_on(pack.name)
        for number, episode in enumerate(play_many(chosen, players), 1):
            lines.append(evidence_and_label(f"e{number:05}", episode))
            progress.update(team, number, len(chosen))
    manifest = {
        "command": command_line,
        "version": VERSION,
        "commit": source_commit(),
        "pack_hash": pack.content_hash(),
        "team": players.status(),
    }
    written = write_transcripts(folder, lines, manifest)
    try:
        require_pyarrow()
        written += write_parquet(folder, lines)
    except MissingExtra as missing:
        note(f"no Parquet files: {missing}")
    guilty = sum(label["rogue"] is not None for _, label in lines)
    print(f"{len(lines) - guilty} honest and {guilty} guilty episodes")
    print(f"written: {', '.join(map(str, written))}")
