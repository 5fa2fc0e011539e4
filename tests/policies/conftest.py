"""The folder of a user."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.policies.own_file import FILE, forget


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The folder of a user: a file of policies, and a module beside it."""
    (tmp_path / "mine.py").write_text(FILE, encoding="utf-8")
    (tmp_path / "helper_of_mine.py").write_text("FIRST = lambda view: view.rules.agents[0]\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield "mine.py"
    forget(tmp_path)
