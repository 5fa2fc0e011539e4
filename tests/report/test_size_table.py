"""The table of two sizes of the base, from its figures and from evaluations."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.errors import BadInput

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "experiments/size/figures.json"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "experiments/size_table.py"))


def test_the_documents_have_the_table_of_the_figures_that_ship(script: dict[str, Any]) -> None:
    table = script["table"](json.loads(SHIPPED.read_text(encoding="utf-8"))["rows"])
    assert table in (ROOT / "docs/training.md").read_text(encoding="utf-8")


def test_an_adapter_of_neither_run_is_refused(script: dict[str, Any]) -> None:
    assert script["size_of"]("/models/qwen+adapter=runs/size_500m/adapter+format=menu") == "0.5B"
    with pytest.raises(BadInput, match="runs/other has no adapter of size_135m or size_500m"):
        script["size_of"]("local:smollm2+adapter=runs/other")
