"""``chaosops replay``: play the decisions of a recorded episode again, without policies."""

from __future__ import annotations

import time

from chaosops.cli.commands.run import print_episode
from chaosops.cli.options import File, Json, Otlp
from chaosops.cli.output import print
from chaosops.core.files import open_file, write_text
from chaosops.core.printable import one_line
from chaosops.packs import load_pack
from chaosops.report.episode_html import episode_html
from chaosops.report.episode_markdown import episode_markdown
from chaosops.report.otlp import check_target, deliver, is_url
from chaosops.report.spans import simulated_ns, trace_of
from chaosops.report.transcript import count
from chaosops.wire.recordings import read_recording


def execute(
    file: File,
    /,
    *,
    prompts: bool = False,
    markdown: File | None = None,
    html: File | None = None,
    otlp: Otlp = None,
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
    if otlp is not None:
        check_target(otlp, taken)
    episode, manifest = read_recording(file)
    if markdown:
        write_text(markdown, episode_markdown(episode, manifest))
    if html:
        write_text(html, episode_html(episode, manifest))
    if otlp is not None:
        # Most servers show the latest traces only, but a file does not depend on the day.
        ends_ns = simulated_ns(episode, time.time_ns()) if is_url(otlp) else ()
        delivered = deliver(otlp, trace_of(episode, manifest, ends_ns))
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
    if otlp is not None:
        print(delivered)
