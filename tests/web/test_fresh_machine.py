"""How a machine without a browser gets one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import browser

ASKED = ["apt-get update", "apt-get install --yes chromium"]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The only folder with programs, on a machine where this process is root."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(browser, "LOG", tmp_path / "browser.log")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(browser, "_of_playwright", lambda: None)
    browser.find_browser.cache_clear()
    yield tmp_path
    browser.find_browser.cache_clear()


def script(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


def test_chromium_comes_from_debian(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = script(programs / "made")
    script(
        programs / "apt-get",
        'echo "apt-get $*"',
        f'[ "$1" = update ] || /bin/cp {made} {programs}/chromium',
    )
    browser.main()
    said = capsys.readouterr().out.splitlines()
    assert said == [*(f"browser: {line}" for line in ASKED), f"browser: {programs}/chromium"]
    assert (programs / "browser.log").read_text().splitlines() == ASKED


def test_the_reason_is_printed_where_nothing_can_be_installed(
    programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script(programs / "apt-get", "echo 'E: Unable to locate package chromium'", "exit 100")
    offline = script(programs / "python", "echo 'Error: connect ECONNREFUSED'", "exit 1")
    monkeypatch.setattr(sys, "executable", str(offline))
    browser.main()
    said = capsys.readouterr().out
    assert said.count("failed: Unable to locate package chromium") == 2
    assert said.count("failed: connect ECONNREFUSED") == 2
    assert said.endswith(f"browser: none could be installed; see {programs}/browser.log\n")
