"""No test sees a real key, and a faulty server is at hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.policies.llm.faulty_server import FaultyServer, faulty_server


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHAOSOPS_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with faulty_server() as running:
        yield running


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    """Its weights are never loaded: only their hash counts."""
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    return tmp_path
