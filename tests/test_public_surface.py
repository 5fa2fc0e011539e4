"""What users import stays importable, and importing it stays light."""

from __future__ import annotations

import subprocess
import sys

import chaosops


def test_the_public_names_are_these() -> None:
    assert sorted(chaosops.__all__) == [
        "ChaosOpsError",
        "Env",
        "Scenario",
        "Seat",
        "Team",
        "evaluate",
        "load_pack",
        "load_policy",
        "make_scenario",
        "play",
        "play_many",
        "priced",
        "scenarios",
        "standard",
        "stored_results",
    ]
    assert all(hasattr(chaosops, name) for name in chaosops.__all__)


def imported_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sorted(m.split('.')[0] for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_simulation_needs_the_standard_library_alone() -> None:
    heavy = {"numpy", "rich", "matplotlib", "torch"}
    assert not heavy & imported_by("import chaosops; chaosops.load_policy('optimal')")
    ours = imported_by("from chaosops.cli.app import build_app; build_app()")
    assert not heavy & ours
