"""A copy of the sources that a test may change, and the proof that the rest did not move."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Prompts, letters and rewards of a few episodes of every pack and split that ships.
_FINGERPRINT = """
import hashlib, json
from chaosops import Env, load_policy, make_scenario
from chaosops.packs import load_pack
from chaosops.policies.protocol import DecisionRequest
from chaosops.roles.prompt import Style, render

SHIPPED = json.loads({shipped!r})

def episode(scenario):
    env, oracle, seen = Env(scenario), load_policy("oracle"), []
    while not env.over:
        seen += [render(env.view, style) for style in Style]
        turn = env.play(oracle.decide([DecisionRequest(env.view, 7, env.world)])[0])
        seen.append([str(turn.decision.action), turn.score.total])
    return seen

found = []
for failure in SHIPPED["failures"]:
    found.append(episode(make_scenario(failure, tier="hard", seed=11)))
for split in SHIPPED["splits"]:
    for tier in ("easy", "hard"):
        for seed in range(2):
            found.append(episode(make_scenario(pack="arena", split=split, tier=tier, seed=seed)))
print(hashlib.sha256(json.dumps(found).encode()).hexdigest())
"""


class Checkout:
    """Everything under ``src``, compiled files too, but for the weights and evaluations, which
    nothing here needs."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        ignored = shutil.ignore_patterns("evaluations", "adapter")
        shutil.copytree(ROOT / "src", self.root / "src", ignore=ignored)

    def write(self, path: str, text: str) -> None:
        """Add a file, or replace one; ``path`` is relative to ``src/chaosops``."""
        place = self.root / "src" / "chaosops" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace ``old``, which stands in the file exactly once."""
        place = self.root / "src" / "chaosops" / path
        text = place.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
        place.write_text(text.replace(old, new), encoding="utf-8")

    def touched(self) -> set[str]:
        """Files that differ from the project's own, relative to ``src/chaosops``."""
        source, copy = ROOT / "src" / "chaosops", self.root / "src" / "chaosops"
        return {
            path.relative_to(copy).as_posix()
            for path in copy.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
            if not (original := source / path.relative_to(copy)).is_file()
            or original.read_bytes() != path.read_bytes()
        }

    def python(self, code: str) -> str:
        """What a program prints that imports the copy."""
        return run_python(self.root / "src", code)

    def chaosops(self, *words: str) -> str:
        """What a command prints that runs from the copy."""
        return _run(self.root / "src", ["-m", "chaosops", *words])


def fingerprint(checkout: Checkout, arena: bool = True) -> str:
    return checkout.python(_fingerprint_code(arena))


@cache
def fingerprint_here(arena: bool = True) -> str:
    """The same of the project's own sources."""
    return run_python(ROOT / "src", _fingerprint_code(arena))


def _fingerprint_code(arena: bool) -> str:
    from chaosops.packs import load_pack

    splits = load_pack("arena").splits if arena else ()
    shipped = {"failures": load_pack("classic").failures(), "splits": splits}
    return _FINGERPRINT.format(shipped=json.dumps(shipped))


def run_python(source: Path, code: str) -> str:
    return _run(source, ["-c", code])


def _run(source: Path, words: list[str]) -> str:
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
