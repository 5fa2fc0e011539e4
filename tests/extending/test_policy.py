from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.extending.checkout import ROOT, Checkout, fingerprint, fingerprint_here

PATIENT = '''"""Never acts."""

from __future__ import annotations

from collections.abc import Mapping

from chaosops.core.actions import Action, Noop
from chaosops.core.dice import Dice
from chaosops.policies.protocol import ScriptedPolicy
from chaosops.roles.view import RoleView


class PatientPolicy(ScriptedPolicy):
    name = "patient"
    help = "waits and sees"
    evaluated_in = ("arena",)

    def act(self, view: RoleView, dice: Dice) -> Action:
        return Noop()

    def suspect(self, view: RoleView, dice: Dice) -> Mapping[str, float]:
        return dict.fromkeys(view.rules.agents, 0.5)


POLICY = PatientPolicy
'''
LISTS = """
from chaosops.policies.registry import default_policies
from chaosops.web.policy_cache import PolicyCache
print(*default_policies("classic"))
print(*default_policies("arena"))
print([state["words"] for state in PolicyCache().states() if state["name"] == "patient"])
"""
PEEKING = "from chaosops.world.engine import World\n"


def test_a_policy_is_one_file(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    checkout.write("policies/scripted/patient.py", PATIENT)
    assert checkout.touched() == {"policies/scripted/patient.py"}
    assert "waits and sees" in checkout.chaosops("list")
    assert checkout.python(LISTS).splitlines() == [
        "random keyword heuristic oracle",
        "random keyword heuristic last_toucher auditor patient oracle",
        "['waits and sees']",
    ]
    played = checkout.chaosops("run", "--pack", "arena", "--tier", "easy", "--policy", "patient")
    assert "out of time" in played.lower()
    assert fingerprint(checkout) == fingerprint_here()


@pytest.mark.parametrize(
    "path", ["policies/scripted/patient.py", "policies/scripted/arena/patient.py"]
)
def test_a_policy_that_imports_the_world_breaks_the_contract(tmp_path: Path, path: str) -> None:
    checkout = Checkout(tmp_path)
    checkout.write(path, PEEKING)
    lint = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(
        [*lint, "--config", str(ROOT / "pyproject.toml")],
        env=os.environ | {"PYTHONPATH": str(checkout.root / "src")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "No peeking: a policy gets a view, nothing else BROKEN" in done.stdout


def test_every_part_of_policies_but_truth_is_under_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (peeking,) = [c for c in contracts if c["name"].startswith("No peeking")]
    folder = ROOT / "src" / "chaosops" / "policies"
    parts = {path.stem for path in folder.iterdir()} - {"__init__", "__pycache__", "truth"}
    assert {f"chaosops.policies.{part}" for part in parts} <= set(peeking["source_modules"])
