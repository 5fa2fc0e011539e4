"""Record ``chaosops watch`` in a real terminal, and draw its decisive frame.

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
SCENARIO, TIER, SEED = "autoscaler_cost_cut", "hard", 42
TEAMS = ("random", "trained")
COLUMNS, ROWS = 150, 37  # the least width for two teams side by side
STILL_COLUMNS = 136  # narrower, because a page shows a picture at a smaller size
LONGEST_PAUSE_S = 2.5  # loading a model is skipped
LAST_LOOK_S = 4.0
AT_ONCE_S = 0.05
PROMPT = "\x1b[1;32m$\x1b[0m "
# Codes of styles that make a blank visible: underlined, reversed, coloured background.
VISIBLE_BLANKS = {"4", "7", *map(str, range(40, 49)), *map(str, range(100, 108))}

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


def watch_words() -> list[str]:
    incident = ["--scenario", SCENARIO, "--tier", TIER, "--seed", str(SEED)]
    return ["watch", *incident, "--policy", TEAMS[0], "--versus", TEAMS[1]]


def write_cast(path: Path) -> Path:
    """Header, then one line for each piece of output: [seconds, "o", text]."""
    shown = "chaosops " + " ".join(watch_words())
    header = {
        "version": 2,
        "width": COLUMNS,
        "height": ROWS,
        "title": "Two teams on one incident: random against trained",
        "env": {"TERM": "xterm-256color", "SHELL": "/bin/sh"},
    }
    typed: list[Output] = [(0.0, PROMPT), *((0.025, letter) for letter in shown), (0.3, "\r\n")]
    played = _screens(_played([sys.executable, "-m", "chaosops", *watch_words()]))
    pieces = [(min(pause, LONGEST_PAUSE_S), _with_jumps(text)) for pause, text in played]
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
        except OSError:  # Linux reports so that the other end was closed
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
    """Join the pieces of a screen, which arrives in several reads without a pause."""
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


def _with_jumps(text: str) -> str:
    """Replace long runs of invisible blanks by cursor jumps, which saves a fifth. The screen is
    cleared before it is drawn again, so the result looks the same."""
    empty = True

    def shorten(found: re.Match[str]) -> str:
        nonlocal empty
        if found[1] is None:
            return f"\x1b[{len(found[0])}C" if empty else found[0]
        empty = not VISIBLE_BLANKS & set(found[1].split(";"))
        return found[0]

    return re.sub(r"\x1b\[([0-9;]*)m| {12,}", shorten, text)


def write_still(path: Path) -> Path:
    """The frame in which both teams flag somebody: one an innocent, the other the rogue."""
    scenario = make_scenario(SCENARIO, tier=TIER, seed=SEED)
    rollouts = [Rollout(Env(scenario), load_team(name)) for name in TEAMS]
    for frames in film(rollouts):
        if all(frame.flag_now for frame in frames):
            break
    else:
        raise SystemExit("on this seed the two teams never flag on the same turn; choose another")
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
            title="chaosops " + " ".join(watch_words()), theme=THEME, code_format=SVG
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
