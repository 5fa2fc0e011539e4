from __future__ import annotations

import os
import subprocess
import sys
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
    ("path", "text"),
    [
        ("policies/scripted/patient.py", "from chaosops.world.engine import World\n"),
        ("policies/scripted/arena/patient.py", "from chaosops.packs.arena import PACK\n"),
        ("policies/patience.py", "from chaosops.world.engine import World\n"),
        ("policies/scripted/patient.py", "from chaosops.policies.truth.oracle import POLICY\n"),
        ("policies/scripted/patient.py", "from chaosops import Env\n"),
    ],
)
def test_a_policy_cannot_import_the_truth(tmp_path: Path, path: str, text: str) -> None:
    checkout = Checkout(tmp_path)
    checkout.write(path, text)
    lint = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(
        [*lint, "--config", str(ROOT / "pyproject.toml")],
        env=os.environ | {"PYTHONPATH": str(checkout.root / "src")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert " BROKEN" in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        "",
        PATIENT.replace('name = "patient"', 'name = "calm"'),
        PATIENT.replace("evaluated_in", "sees_truth = True\n    evaluated_in"),
    ],
)
def test_a_policy_in_the_wrong_place_is_one_line(tmp_path: Path, text: str) -> None:
    checkout = Checkout(tmp_path)
    checkout.write("policies/scripted/patient.py", text)
    with pytest.raises(AssertionError, match=r"policies/scripted/patient\.py needs a POLICY"):
        checkout.chaosops("list")
