"""The scripts that start many runs or evaluations, with a stand-in that prints its arguments."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chaosops.cli.app import parse
from chaosops.packs import load_pack

SCRIPTS = Path(__file__).parents[2] / "scripts"
STAND_IN = """#!/bin/sh
printf '%s\\n' "$*"
case "$*" in *"${FAILS:-no such word}"*) exit 1 ;; esac
while [ $# -gt 1 ]; do shift; done
mkdir -p "$1" && echo "[]" > "$1/summary.json"
"""


def run(folder: Path, script: str, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    (folder / "stand_in").write_text(STAND_IN)
    (folder / "stand_in").chmod(0o755)
    known = {"PATH": os.environ["PATH"], "CHAOSOPS": "./stand_in", **env}
    command = ["bash", str(SCRIPTS / script), *words]
    return subprocess.run(
        command, cwd=folder, env=known, capture_output=True, text=True, timeout=60
    )


def calls(folder: Path) -> dict[str, list[str]]:
    """What each run or evaluation was started with. Every call is one that chaosops understands."""
    found = {}
    for path in sorted(folder.glob("*.log")):
        words = path.read_text().split()
        parse(words)
        found[path.stem] = words
    return found


def test_each_seed_is_a_run_of_its_own(tmp_path: Path) -> None:
    option = ("--set", "start=first-SEED/adapter")
    done = run(tmp_path, "train_seeds.sh", "reading_second", "runs", *option, SEEDS="0 4")
    assert (done.returncode, done.stderr) == (0, "")
    found = calls(tmp_path / "runs")
    assert found.keys() == {"reading_second-0", "reading_second-4"}
    assert {"seed=4", "start=first-4/adapter"} <= set(found["reading_second-4"])


def test_a_seed_that_fails_is_told_and_the_others_end(tmp_path: Path) -> None:
    done = run(tmp_path, "train_seeds.sh", "reading_first", "runs", FAILS="seed=1")
    assert done.returncode == 1
    assert done.stderr == "seed 1: failed, see runs/reading_first-1.log\n"
    assert sorted(done.stdout.splitlines()) == ["seed 0: done", "seed 2: done"]


def test_own_play_is_of_seeds_that_may_be_trained_on(tmp_path: Path) -> None:
    done = run(tmp_path, "own_play.sh", "runs/mine/adapter", "own", "600000", PART="10")
    assert (done.returncode, done.stderr) == (0, "")
    found = calls(tmp_path / "own")
    assert all("train_wide" in words for words in found.values())
    starts = sorted(int(words[words.index("--seed-start") + 1]) for words in found.values())
    hard, medium = range(600_000, 600_080, 10), range(620_000, 620_040, 10)
    assert starts == [*hard, *medium, 630_000, 630_010]


def test_the_report_plays_every_split_once_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    done = run(tmp_path, "report_evaluations.sh", "trained", "out", FAILS="ood_names")
    assert done.returncode != 0
    assert "arena_ood_names: failed, see out/arena_ood_names.log" in done.stderr
    pack = load_pack("arena")
    splits = {split for split in pack.splits if split == "test" or split.startswith("ood_")}
    rest = {"classic_published", "rates_test"}
    rates = {f"rates_{split}" for split in splits - {"test"}}
    assert calls(tmp_path / "out").keys() == {f"arena_{split}" for split in splits} | rates | rest
    again = run(tmp_path, "report_evaluations.sh", "trained", "out", JOBS="4")
    assert (again.returncode, again.stderr) == (0, "")
    lines = again.stdout.splitlines()
    assert {line for line in lines if line.endswith("done")} == {
        "arena_ood_names: done",
        "rates_ood_names: done",
    }


@pytest.mark.parametrize("script", ["train_seeds.sh", "own_play.sh", "report_evaluations.sh"])
def test_bad_use_is_one_line_and_shellcheck_finds_nothing(script: str, tmp_path: Path) -> None:
    done = run(tmp_path, script)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    tool = Path(sys.executable).with_name("shellcheck")
    assert subprocess.run([tool, SCRIPTS / script]).returncode == 0
