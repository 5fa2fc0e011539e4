"""``chaosops replay``: play the decisions of a recorded episode again, without policies."""

from __future__ import annotations

from chaosops.cli.commands.run import print_episode
from chaosops.cli.options import File, Json
from chaosops.cli.output import print
from chaosops.core.files import open_file, write_text
from chaosops.core.printable import one_line
from chaosops.packs import load_pack
from chaosops.report.episode_html import episode_html
from chaosops.report.episode_markdown import episode_markdown
from chaosops.report.transcript import count
from chaosops.wire.recordings import read_recording


def execute(
    file: File,
    /,
    *,
    prompts: bool = False,
    markdown: File | None = None,
    html: File | None = None,
    json: Json = False,
) -> None:
    """
    Args:
        file: a recording of run --record or eval --save-episodes
        prompts: print prompts and replies
        markdown: write the episode as Markdown to this file
        html: write the episode as one HTML page to this file
    """
    taken = [file]
    for option, path in (("--markdown", markdown), ("--html", html)):
        if path:
            taken.append(open_file(path, option, tuple(taken)))
    episode, manifest = read_recording(file)
    if markdown:
        write_text(markdown, episode_markdown(episode, manifest))
    if html:
        write_text(html, episode_html(episode, manifest))
    print_episode(episode, manifest, prompts=prompts, as_json=json)
    if json:
        return
    pack = episode.scenario.pack
    print(
        f"\nreproduced: this world plays {file} as it was recorded, "
        f"{count(episode.steps, 'turn')}, reward {episode.reward:+.1f} "
        f"(pack {pack} {load_pack(pack).content_hash()})"
    )
    print(one_line(f"recorded by: {manifest.get('command')}"))
    for path in taken[1:]:
        print(f"written: {path}")
