"""The browser of the tests, and how a fresh machine gets one: ``python -m tests.browser``.

Debian's chromium is installed where apt and root are at hand, playwright's own elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
LOG = Path(".venv/browser.log")
MINUTES = 10
_ERROR = re.compile(r"^(?:E|Error): (.+)", re.MULTILINE)  # of apt-get and of playwright
REASON = "no browser; install one with: python -m tests.browser"


@cache
def find_browser() -> str | None:
    """The path of a browser that is installed."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    return _of_playwright()


def _of_playwright() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


def install_browser() -> str | None:
    """The first way that works. The log holds what each of them printed."""
    LOG.parent.mkdir(exist_ok=True)
    with LOG.open("w", encoding="utf-8") as log:
        for way in _ways():
            print("browser:", " ".join(way), flush=True)
            told = _run(way)
            log.write(told)
            find_browser.cache_clear()
            if found := find_browser():
                return found
            if error := _ERROR.search(told):
                print("browser:   failed:", error[1])
    return None


def _ways() -> Iterator[list[str]]:
    install = [sys.executable, "-m", "playwright", "install", "chromium"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        if shutil.which("apt-get"):
            yield ["apt-get", "update"]
            yield ["apt-get", "install", "--yes", "chromium"]
        yield [*install, "--with-deps"]
    yield install


def _run(way: list[str]) -> str:
    try:
        done = subprocess.run(
            way,
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60 * MINUTES,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"Error: {error}\n"
    return done.stdout.decode(errors="replace")


def main() -> None:
    """Never fails: the tests say how many of them need a browser, and with CI=true they fail."""
    found = find_browser() or install_browser()
    print(f"browser: {found}" if found else f"browser: none could be installed; see {LOG}")


if __name__ == "__main__":
    main()
