"""Same seed, same trajectory: in this process, in others, and under other Pythons."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.record import PACKS, episodes_file, golden_episodes

ROOT = Path(__file__).parents[2]


def recorded() -> dict[str, object]:
    return {pack: json.loads(episodes_file(pack).read_text(encoding="utf-8")) for pack in PACKS}


@pytest.mark.parametrize("pack", PACKS)
def test_episodes_equal_the_golden_file(pack: str) -> None:
    assert golden_episodes(pack) == recorded()[pack]


def episodes_of(python: str, hash_seed: str) -> object:
    env = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": f"{ROOT}/src:{ROOT}"}
    done = subprocess.run(
        [python, "-m", "tests.golden.record", "--print"],
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_another_process_and_hash_seed_make_no_difference() -> None:
    assert episodes_of(sys.executable, "4242") == recorded()


def other_pythons() -> list[str]:
    """Newer interpreters on this machine that really start."""
    found = []
    for minor in range(11, 17):
        for candidate in (
            shutil.which(f"python3.{minor}"),
            *map(str, Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")),
        ):
            if candidate is None or minor == sys.version_info.minor:
                continue
            works = subprocess.run([candidate, "-c", ""], capture_output=True, check=False)
            if works.returncode == 0:
                found.append(candidate)
                break
    return found


def test_other_python_versions_make_no_difference() -> None:
    # Where a machine has only one Python this checks nothing, and says so.
    pythons = other_pythons()
    if not pythons:
        pytest.skip("no other Python >= 3.11 on this machine")
    for python in pythons:
        assert episodes_of(python, "7") == recorded(), python
