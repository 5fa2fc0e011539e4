"""The load test, small: that it works, not how fast this machine is today."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.server.test_environment import ROOT


def test_the_load_test_finds_no_mistake_and_no_leak(tmp_path: Path) -> None:
    script = [
        sys.executable,
        str(ROOT / "experiments/load_test.py"),
        "--out",
        str(tmp_path / "out"),
    ]
    sizes = ["--sessions", "16", "--steps", "320", "--rounds", "1", "--drops", "64"]
    done = subprocess.run([*script, *sizes], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    figures = json.loads((tmp_path / "out").read_text())
    assert figures.keys() == {"cores", "load", "drops"}
    assert {"echo", "classic", "arena"} < figures["load"].keys()
    for measured in figures["load"].values():
        assert measured["steps"] == 320
        assert measured["first_mistakes"] == []
    drops = figures["drops"]
    assert drops["refused"] == 0
    assert drops["after"]["open_files"] <= drops["before"]["open_files"]
    assert drops["after"]["threads"] <= drops["before"]["threads"]
