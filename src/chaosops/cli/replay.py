"""``chaosops replay``: a recorded episode, played again by the world alone."""

from __future__ import annotations

import argparse

from chaosops.cli.output import print
from chaosops.cli.run import shown_prompts, twin_lines
from chaosops.core.files import open_file, write_text
from chaosops.core.printable import one_line
from chaosops.packs import load_pack
from chaosops.report.episode_html import episode_html
from chaosops.report.episode_markdown import episode_markdown
from chaosops.report.transcript import count, transcript
from chaosops.wire.recordings import read_recording


def execute(args: argparse.Namespace) -> int:
    taken = [args.file]
    for option, path in (("--markdown", args.markdown), ("--html", args.html)):
        if path:
            taken.append(open_file(path, option, tuple(taken)))
    episode, manifest = read_recording(args.file)
    prompts = shown_prompts(episode) if args.prompts else []
    print("\n".join([transcript(episode, prompts), *twin_lines(episode)]))
    pack = episode.scenario.pack
    print(
        f"\nreproduced: this world plays {args.file} as it was recorded, "
        f"{count(episode.steps, 'turn')}, reward {episode.reward:+.1f} "
        f"(pack {pack} {load_pack(pack).content_hash()})"
    )
    print(one_line(f"recorded by: {manifest.get('command')}"))
    if args.markdown:
        write_text(args.markdown, episode_markdown(episode, manifest))
        print(f"written: {args.markdown}")
    if args.html:
        write_text(args.html, episode_html(episode, manifest))
        print(f"written: {args.html}")
    return 0
