"""Draw the pictures that links to recorded cases are shown with.

    python -m scripts.draw_cases

writes ``src/chaosops/web/cases/NAME.png``: the services as their instruments show them, and the
agents. Nothing in a picture tells who did it. Needs ``chaosops[dev]``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from chaosops.core.telemetry import ServiceReading
from chaosops.core.vocabulary import Health
from chaosops.web.recorded_cases import FOLDER, Case, RecordedCases

SIZE = (1200, 630)
PAPER, INK, QUIET, CHIP = "#0d1218", "#e6ebf2", "#a3afbf", "#263040"
FILL = {Health.HEALTHY: "#17382a", Health.DEGRADED: "#5a4310", Health.CRITICAL: "#8c2a22"}
EDGE = {Health.HEALTHY: "#2f6b4c", Health.DEGRADED: "#f0bc55", Health.CRITICAL: "#ff9488"}
FLAG = [(60, 60), (60, 112), (66, 112), (66, 92), (100, 92), (90, 76), (100, 60)]
COLOURS = 64
COLUMNS = 5
LEFT, TOP, TILE_WIDTH, TILE_HEIGHT, GAP = 60, 250, 204, 62, 12


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=Path, default=FOLDER, help="folder (default: %(default)s)")
    args = parser.parse_args()
    for case in RecordedCases(args.cases).all:
        path = args.cases / f"{case.name}.png"
        # Few colours look the same at a third of the size.
        draw(case).quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def draw(case: Case) -> Image.Image:
    image = Image.new("RGB", SIZE, PAPER)
    pen = ImageDraw.Draw(image)
    pen.polygon(
        [(60, 60), (60, 112), (66, 112), (66, 92), (100, 92), (90, 76), (100, 60)], "#ff9488"
    )
    pen.text((120, 62), f"ChaosOps   {case.title}", QUIET, _font(30))
    pen.text((60, 130), "One of these AI agents broke production.", INK, _font(50))
    pen.text((60, 188), "Or none did. Which?", INK, _font(50))
    for i, reading in enumerate(case.readings[: 4 * COLUMNS]):
        _tile(pen, i, reading)
    _agents(pen, case)
    return image


def _tile(pen: ImageDraw.ImageDraw, i: int, reading: ServiceReading) -> None:
    x = LEFT + (i % COLUMNS) * (TILE_WIDTH + GAP)
    y = TOP + 20 + (i // COLUMNS) * (TILE_HEIGHT + GAP)
    box = (x, y, x + TILE_WIDTH, y + TILE_HEIGHT)
    pen.rounded_rectangle(box, 10, FILL[reading.health], EDGE[reading.health], 2)
    pen.text((x + 14, y + 10), reading.service, INK, _font(22))
    pen.text((x + 14, y + 36), f"errors {reading.error_pct:.0f}%", QUIET, _font(16))


def _agents(pen: ImageDraw.ImageDraw, case: Case) -> None:
    x, y = LEFT, SIZE[1] - 84
    for agent in case.agents:
        words = f"{agent} ?"
        width = round(pen.textlength(words, _font(20))) + 28
        pen.rounded_rectangle((x, y, x + width, y + 44), 22, CHIP)
        pen.text((x + 14, y + 10), words, INK, _font(20))
        x += width + 10


def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise SystemExit("Pillow has no scalable font; install it with libfreetype")
    return font


if __name__ == "__main__":
    main()
