"""The notebook as a reviewer gets it, and from top to bottom in a real kernel."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FILE = Path(__file__).parents[1] / "notebooks/colab_train.ipynb"


@pytest.fixture
def notebook() -> Any:
    return nbformat.read(FILE, as_version=4)


def test_it_is_kept_without_outputs(notebook: Any) -> None:
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    for cell in notebook.cells:
        assert cell.metadata == {}, cell.id
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", cell.id), "a name of its own, not a drawn one"
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None), cell.id


def test_every_cell_of_code_is_told_why(notebook: Any) -> None:
    for before, cell in zip(notebook.cells, notebook.cells[1:], strict=False):
        if cell.cell_type == "code":
            assert before.id == f"{cell.id}-why"
            assert len(before.source.split()) > 12


def test_it_names_documents_that_are_there(notebook: Any) -> None:
    text = "\n".join(cell.source for cell in notebook.cells)
    named = re.findall(r"\b(?:docs|experiments)/[\w/]+\.md", text)
    assert len(set(named)) >= 6
    assert [name for name in named if not (FILE.parents[1] / name).is_file()] == []


def test_it_runs_from_top_to_bottom(
    notebook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAOSOPS_SMOKE", "1")
    monkeypatch.setenv("CHAOSOPS_NOTEBOOK_RUN", str(tmp_path / "run"))
    for name in ("CHAOSOPS_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, os.environ.get(name, "1"))
    where = {"metadata": {"path": str(FILE.parent)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=where).execute()
    said = {cell.id: _outputs(cell) for cell in notebook.cells if cell.cell_type == "code"}
    assert re.search(r"flag_rogue autoscaler +\+46\.0 +ROGUE CAUGHT", said["classic"])  # oracle
    for name in ("random", "trained", "heuristic", "oracle"):
        assert f"{name}: it was too little capacity: " in said["classic"]
    assert "oracle: it was too little capacity: resolved in 3 steps" in said["classic"]
    assert "4 -&gt; 1" in said["evidence"] or "4 → 1" in said["evidence"]
    assert re.search(r"^reply: [A-Za-z]+ = [a-z_]+", said["evidence"], re.MULTILINE)
    assert re.search(r"^suspicion: {.*'autoscaler': ", said["evidence"], re.MULTILINE)
    assert "trained: it was" in said["arena"]
    assert "ROGUE CAUGHT" in said["arena"]  # at least by the oracle
    for name in ("random", "heuristic", "oracle", "trained"):
        assert re.search(rf"\| {name} +\| easy +\| +1 \|", said["evaluation"])
    assert "chaosops eval --pack arena --split test" in said["evaluation"]
    assert "update 2: loss " in said["training"]
    assert "image/png" in said["curve"]
    assert re.search(r"loss, first \d updates: \d", said["curve"])
    assert "after 2 updates: reward" in said["fresh"]
    assert (tmp_path / "run/adapter/adapter_model.safetensors").is_file()


def _outputs(cell: Any) -> str:
    """What a reader sees under a cell, pictures by their kind."""
    parts = []
    for output in cell.outputs:
        data = output.get("data", {})
        parts += [output.get("text", ""), *data, *map(str, data.values())]
    return "\n".join(parts)
