"""Take the pictures of the web page that the documents show.

    python -m scripts.take_screenshots

writes ``docs/assets/side_by_side.png``. Needs ``chaosops[dev]``.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright
from tests.browser import REASON, find_browser
from tests.web.conftest import serving

from chaosops.packs import make_scenario
from chaosops.web.routes import Settings

ASSETS = Path(__file__).parents[1] / "docs/assets"
INCIDENT = {"pack": "classic", "scenario": "autoscaler_cost_cut", "tier": "hard", "seed": "101"}
TEAMS = {"left": "random", "right": "trained"}
FLAG_STEP = 2  # on this seed both teams flag somebody here
WIDTH, HEIGHT = 1280, 720  # down to the curve of the rewards
PATIENCE_MS = 180_000  # a small machine needs minutes to load and ask a model
COLOURS = 128


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ASSETS, help="folder (default: %(default)s)")
    args = parser.parse_args()
    chromium = find_browser()
    if chromium is None:
        raise SystemExit(REASON)
    args.out.mkdir(parents=True, exist_ok=True)
    # Without the evaluations and training runs of this machine.
    with serving(Settings(results=())) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT},
            color_scheme="light",
            reduced_motion="reduce",
        )
        expect.set_options(timeout=PATIENCE_MS)
        page.goto(f"{address}/?{urlencode(INCIDENT | TEAMS)}")
        path = save(moment_of_the_flag(page), args.out / "side_by_side.png")
        browser.close()
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def moment_of_the_flag(page: Page) -> bytes:
    """Pause the run at the flag, so that nothing later is drawn."""
    expect(page.locator("#where")).to_have_text(f"{FLAG_STEP} / {make_scenario().limit}")
    page.locator("#play").click()
    page.mouse.move(0, 0)
    return page.screenshot()


def save(picture: bytes, path: Path) -> Path:
    """Save with a palette. A page has few colours, so it looks the same at a third of the size."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


if __name__ == "__main__":
    main()
