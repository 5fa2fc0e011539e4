"""Take the pictures of the web page that the documents show.

    python -m scripts.take_screenshots [NAME ...]

writes ``docs/assets/NAME.png``, or all of them. Needs ``chaosops[dev]``.
"""

from __future__ import annotations

import argparse
import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect, sync_playwright
from tests.browser import REASON, find_browser
from tests.companies import framed_case
from tests.web.conftest import serving

import chaosops
from chaosops.web.recorded_cases import RecordedCases
from chaosops.web.routes import Settings

SHIPPED = Path(chaosops.__file__).parent / "trained"
ASSETS = Path(__file__).parents[1] / "docs/assets"
INCIDENT = {"pack": "classic", "scenario": "autoscaler_cost_cut", "tier": "hard", "seed": "101"}
COMPANY = {"pack": "arena", "split": "test", "tier": "hard", "seed": "1"}
LARGE = {"pack": "arena", "split": "ood_scale", "tier": "hard", "seed": "1"}
WIDTH, HEIGHT = 1280, 800
PHONE = ViewportSize(width=390, height=844)
DESK_HEIGHT, GUIDE_HEIGHT = 1150, 800  # down to the suspect that did it
CASE_HEIGHT = 1080
PATIENCE_MS = 180_000  # a small machine needs minutes to load and ask a model
COLOURS = 256


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PICTURES))
    parser.add_argument("--out", type=Path, default=ASSETS, help="folder (default: %(default)s)")
    args = parser.parse_args()
    if unknown := set(args.names) - set(PICTURES):
        parser.error(f"no picture {unknown.pop()}; there are: {', '.join(PICTURES)}")
    chromium = find_browser()
    if chromium is None:
        raise SystemExit(REASON)
    args.out.mkdir(parents=True, exist_ok=True)
    # Without the evaluations and training runs of this machine.
    with serving(Settings(results=[SHIPPED])) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        expect.set_options(timeout=PATIENCE_MS)
        for name in args.names or PICTURES:
            page = browser.new_page(
                base_url=address,
                viewport={"width": WIDTH, "height": HEIGHT},
                color_scheme="light",
                reduced_motion="reduce",
            )
            page.set_default_timeout(PATIENCE_MS)
            path = save(PICTURES[name](page), args.out / f"{name}.png")
            page.close()
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
        browser.close()


def side_by_side(page: Page) -> bytes:
    """Both teams flag somebody at this step."""
    return moment_of(page, INCIDENT, ("random", "trained"), 2)


def stage(page: Page) -> bytes:
    """The auditor flags the rogue."""
    return moment_of(page, COMPANY, ("random", "auditor"), 6)


def stage_phone(page: Page) -> bytes:
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    return moment_of(page, COMPANY, ("auditor", "none"), 6)


def stage_folded(page: Page) -> bytes:
    return moment_of(page, LARGE, ("auditor", "none"), 2)


def moment_of(page: Page, incident: Mapping[str, str], teams: tuple[str, str], step: int) -> bytes:
    """Pause the run and go to the step, so that nothing later is drawn."""
    page.goto(f"/?{urlencode({**incident, 'left': teams[0], 'right': teams[1]})}")
    page.locator("#play").click()
    expect(page.locator('.stage:not([data-state="over"])')).to_have_count(0)
    while int(page.locator("#where").inner_text().partition("/")[0]) < step:
        page.locator("#forth").click()
    expect(page.locator("#where")).to_have_text(re.compile(rf"^{step} /"))
    page.locator("#forth").evaluate("button => button.blur()")
    page.mouse.move(0, 0)
    return page.screenshot()


def desk(page: Page) -> bytes:
    """Oversight after two audits, before a flag."""
    case = framed_case()
    seat = {"mode": "seat", "pack": "arena", "split": "test", "tier": "hard", "seed": case.seed}
    page.set_viewport_size({"width": WIDTH, "height": DESK_HEIGHT})
    page.goto(f"/?{urlencode(seat | {'role': 'oversight', 'partners': 'heuristic'})}")
    for act in (case.innocent, case.act):
        page.get_by_role("button", name=f"Audit {act.agent}").click()
        expect(page.locator(".your-turn.now")).to_be_visible()
    page.locator(f"[name=evidence][value='{case.act.id}']").check()
    page.locator(".suspects").evaluate("cards => cards.scrollIntoView()")
    page.mouse.move(0, 0)
    return page.screenshot()


def guide(page: Page) -> bytes:
    page.set_viewport_size({"width": WIDTH, "height": GUIDE_HEIGHT})
    page.goto("/guide")
    expect(page.locator(".coach-here")).to_be_visible()
    return page.screenshot()


def case(page: Page) -> bytes:
    """A recorded case before anybody is accused."""
    page.goto("/case/heron?step=6")
    expect(page.locator(".suspect-card").first).to_be_visible()
    return page.screenshot()


def case_file(page: Page) -> bytes:
    """An innocent agent was accused. In the dark theme."""
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": WIDTH, "height": CASE_HEIGHT})
    page.goto("/case/kestrel?step=6")
    suspects = RecordedCases().find("kestrel").file.suspects
    framed = next(one.agent for one in suspects if one.verdict == "framed")
    page.locator(f"[data-agent={framed}]").click()
    expect(page.locator(".case-file")).to_be_visible()
    page.locator(".verdict").evaluate("verdict => verdict.scrollIntoView()")
    return page.screenshot()


def results(page: Page) -> bytes:
    """The heat map, and the episodes of its first cell."""
    page.goto("/results")
    expect(page.locator(".dot").first).to_be_visible()
    return page.screenshot()


def training(page: Page) -> bytes:
    """In the dark theme."""
    page.emulate_media(color_scheme="dark")
    page.goto("/training")
    expect(page.locator(".told .chart polyline").first).to_be_visible()
    return page.screenshot()


PICTURES: dict[str, Callable[[Page], bytes]] = {
    "side_by_side": side_by_side,
    "stage": stage,
    "stage_phone": stage_phone,
    "stage_folded": stage_folded,
    "desk": desk,
    "guide": guide,
    "case": case,
    "case_file": case_file,
    "results": results,
    "training": training,
}


def save(picture: bytes, path: Path) -> Path:
    """Save with a palette. A page has few colours, so it looks the same at a third of the size."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


if __name__ == "__main__":
    main()
