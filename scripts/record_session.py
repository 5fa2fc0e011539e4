"""Record ``chaosops watch`` in a real terminal, and draw the frame of the trained team's flag.

    python scripts/record_session.py

writes ``docs/assets/watch.cast`` (asciinema v2: ``asciinema play docs/assets/watch.cast``) and
``docs/assets/watch.svg``.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme

from chaosops.cli.commands.watch import film
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.rollout import Rollout, load_team
from chaosops.terminal.screen import Room, draw

ASSETS = Path(__file__).parents[1] / "docs/assets"
SCENARIO, TIER, SEED = "autoscaler_cost_cut", "hard", 101  # random flags an innocent agent
COLUMNS, ROWS = 150, 37  # the least width for two teams side by side
STILL_COLUMNS = 100  # one team: a page shows pictures small
LONGEST_PAUSE_S = 2.5  # nobody wants to watch a model being loaded
LAST_LOOK_S = 4.0
AT_ONCE_S = 0.05
PROMPT = "\x1b[1;32m$\x1b[0m "
# How rich removes the screen before it draws the next one: line by line upwards.
CLEARED = re.compile(r"\r\x1b\[2K((?:\x1b\[1A\x1b\[2K)+)")

Output = tuple[float, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ASSETS, help="folder (default: %(default)s)")
    parser.add_argument("--still-only", action="store_true", help="leave the recording as it is")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    written = [write_still(args.out / "watch.svg")]
    if not args.still_only:
        written.append(write_cast(args.out / "watch.cast"))
    for path in written:
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def watch_words(*teams: str) -> list[str]:
    incident = ["--scenario", SCENARIO, "--tier", TIER, "--seed", str(SEED)]
    return ["watch", *incident, *teams]


def write_cast(path: Path) -> Path:
    """Header, then one line for each piece of output: [seconds, "o", text]."""
    words = watch_words("--policy", "random", "--versus", "trained")
    shown = "chaosops " + " ".join(words)
    header = {
        "version": 2,
        "width": COLUMNS,
        "height": ROWS,
        "title": "Two teams on one incident: random against trained",
        "env": {"TERM": "xterm-256color", "SHELL": "/bin/sh"},
    }
    typed: list[Output] = [(0.0, PROMPT), *((0.025, letter) for letter in shown), (0.3, "\r\n")]
    played = _screens(_played([sys.executable, "-m", "chaosops", *words]))
    pieces = [(min(pause, LONGEST_PAUSE_S), text) for pause, text in _changed_lines(played)]
    clock = 0.0
    lines = [json.dumps(header, ensure_ascii=False)]
    for pause, text in [*typed, *pieces, (0.1, PROMPT), (LAST_LOOK_S, "")]:
        clock += pause
        lines.append(json.dumps([round(clock, 3), "o", text], ensure_ascii=False))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _played(command: list[str]) -> Iterator[Output]:
    """What the command writes to a terminal, each piece with the pause before it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    env = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        env.pop(name, None)
    run = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    decode = getincrementaldecoder("utf-8")().decode
    before = time.monotonic()
    while True:
        try:
            data = os.read(ours, 1 << 16)
        except OSError:  # Linux raises this when the other end is closed
            data = b""
        if not data:
            break
        now = time.monotonic()
        yield now - before, decode(data)
        before = now
    os.close(ours)
    if run.wait() != 0:
        raise SystemExit(f"{' '.join(command)} ended with {run.returncode}")


def _screens(pieces: Iterable[Output]) -> Iterator[Output]:
    """A screen arrives in several reads. Reads without a pause between them are one screen."""
    waiting: Output | None = None
    for pause, text in pieces:
        if waiting is None:
            waiting = pause, text
        elif pause < AT_ONCE_S:
            waiting = waiting[0], waiting[1] + text
        else:
            yield waiting
            waiting = pause, text
    if waiting is not None:
        yield waiting


def _changed_lines(screens: Iterable[Output]) -> Iterator[Output]:
    """Lines that did not change are not drawn again: the same screens in half the bytes."""
    before: list[str] = []
    for pause, text in screens:
        cleared = CLEARED.match(text)
        lines = text[cleared.end() if cleared else 0 :].split("\r\n")
        if cleared and len(lines) == len(before):
            pairs = zip(before, lines, strict=True)
            drawn = ["" if old == new else f"\x1b[2K{new}" for old, new in pairs]
            text = f"\r\x1b[{cleared[1].count('A')}A" + "\r\n".join(drawn)
        before = lines
        yield pause, text


def write_still(path: Path) -> Path:
    """The frame in which the trained team flags the rogue."""
    scenario = make_scenario(SCENARIO, tier=TIER, seed=SEED)
    for frames in film([Rollout(Env(scenario), load_team("trained"))]):
        flag = frames[0].flag_now
        if flag is not None and flag.caught:
            break
    else:
        raise SystemExit("on this seed the trained team does not catch the rogue; choose another")
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(
            record=True,
            width=STILL_COLUMNS,
            file=nowhere,
            force_terminal=True,
            color_system="truecolor",
        )
        console.print(draw(frames, Room.for_height(ROWS)))
        drawing = console.export_svg(
            title="chaosops " + " ".join(watch_words("--policy", "trained")),
            theme=THEME,
            code_format=SVG,
        )
    path.write_text(drawing, encoding="utf-8")
    return path


THEME = TerminalTheme(
    (16, 21, 28),
    (214, 221, 230),
    [
        (16, 21, 28),
        (218, 70, 63),
        (46, 152, 86),
        (214, 162, 58),
        (83, 155, 245),
        (188, 140, 255),
        (57, 197, 207),
        (255, 255, 255),
    ],
)

# Rich's own frame loads its font from another host. This one uses the reader's fonts.
SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px;
  line-height: {line_height}px;
}}
.{unique_id}-title {{ font-family: system-ui, sans-serif; font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""

if __name__ == "__main__":
    main()
