"""``chaosops replay``: a recorded episode, played again by the world alone."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.commands.run import episode_json, shown_prompts, twin_lines
from chaosops.cli.options import File, Json
from chaosops.cli.output import print, print_json
from chaosops.core.files import open_file, write_text
from chaosops.core.printable import one_line
from chaosops.packs import load_pack
from chaosops.report.episode_html import episode_html
from chaosops.report.episode_markdown import episode_markdown
from chaosops.report.transcript import count, transcript
from chaosops.wire.recordings import read_recording


def execute(
    file: File,
    /,
    *,
    prompts: Annotated[bool, Parameter(help="print prompts and replies")] = False,
    markdown: Annotated[File | None, Parameter(help="write it as Markdown")] = None,
    html: Annotated[File | None, Parameter(help="write it as one HTML page")] = None,
    json: Json = False,
) -> int:
    """FILE comes from run --record or from eval."""
    taken = [file]
    for option, path in (("--markdown", markdown), ("--html", html)):
        if path:
            taken.append(open_file(path, option, tuple(taken)))
    episode, manifest = read_recording(file)
    shown = shown_prompts(episode) if prompts else []
    if markdown:
        write_text(markdown, episode_markdown(episode, manifest))
    if html:
        write_text(html, episode_html(episode, manifest))
    if json:
        print_json(episode_json(episode, manifest, shown))
        return 0
    print("\n".join([transcript(episode, shown), *twin_lines(episode)]))
    pack = episode.scenario.pack
    print(
        f"\nreproduced: this world plays {file} as it was recorded, "
        f"{count(episode.steps, 'turn')}, reward {episode.reward:+.1f} "
        f"(pack {pack} {load_pack(pack).content_hash()})"
    )
    print(one_line(f"recorded by: {manifest.get('command')}"))
    for path in taken[1:]:
        print(f"written: {path}")
    return 0
