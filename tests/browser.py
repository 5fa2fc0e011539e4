"""The browser of the tests, and how a fresh machine gets one: ``python -m tests.browser``.

Debian's chromium is installed where apt and root are at hand, playwright's own elsewhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
LOG = Path(".venv/browser.log")
MINUTES = 10
REASON = "no browser; install one with: python -m tests.browser"


@cache
def find_browser() -> str | None:
    """The path of a browser that is installed."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


def install_browser() -> str | None:
    """The first way that works; what each printed goes to the log."""
    ways = [[sys.executable, "-m", "playwright", "install", "--with-deps", "chromium"]]
    if not _is_root():
        ways = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    elif shutil.which("apt-get"):
        ways.insert(0, ["apt-get", "install", "--yes", "chromium"])
        ways.insert(0, ["apt-get", "update"])
    LOG.parent.mkdir(exist_ok=True)
    with LOG.open("w", encoding="utf-8") as log:
        for way in ways:
            print("browser:", " ".join(way), flush=True)
            try:
                subprocess.run(way, stdout=log, stderr=log, timeout=60 * MINUTES, check=False)
            except (OSError, subprocess.TimeoutExpired) as error:
                print(error, file=log)
            find_browser.cache_clear()
            if found := find_browser():
                return found
    return None


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def main() -> None:
    """Never fails: the tests say how many of them need a browser, and with CI=true they fail."""
    found = find_browser() or install_browser()
    print(f"browser: {found}" if found else f"browser: none could be installed; see {LOG}")


if __name__ == "__main__":
    main()
