"""Take the pictures of the web page that the documents show.

    python scripts/take_screenshots.py

writes ``docs/assets/side_by_side.png``. Needs ``chaosops[web,local]``, playwright, pillow and a
Chromium: ``apt-get install chromium``.
"""

from __future__ import annotations

import argparse
import io
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from urllib.parse import urlencode

import uvicorn
from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from chaosops.packs import make_scenario
from chaosops.web.app import build_app
from chaosops.web.routes import Settings

ASSETS = Path(__file__).parents[1] / "docs/assets"
INCIDENT = {"pack": "classic", "scenario": "autoscaler_cost_cut", "tier": "hard", "seed": "42"}
TEAMS = {"left": "random", "right": "trained"}
FLAG_STEP = 2  # on this seed both teams flag somebody here
WIDTH, HEIGHT = 1280, 720  # down to the curve of the rewards
PATIENCE_MS = 180_000  # a small machine needs minutes to load and ask a model
COLOURS = 128


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ASSETS, help="folder (default: %(default)s)")
    args = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("no chromium to take pictures with: apt-get install chromium")
    args.out.mkdir(parents=True, exist_ok=True)
    with served() as address, sync_playwright() as playwright:
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


@contextmanager
def served() -> Iterator[str]:
    """The page on a free port, without evaluations or training runs of this machine."""
    config = uvicorn.Config(build_app(Settings(results=())), log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=20)


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
