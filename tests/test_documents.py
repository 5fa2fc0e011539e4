"""Figures in the documents are those the commands print."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.matrix import scenarios
from chaosops.report.tables import markdown_table

ROOT = Path(__file__).parents[1]


def test_the_readme_shows_the_table_that_eval_prints() -> None:
    results = evaluate(["random", "keyword", "heuristic", "oracle"], scenarios("published"))
    assert markdown_table(results.summary()) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_shows_what_the_trained_model_was_measured_at() -> None:
    shipped = ROOT / "src/chaosops/trained/evaluations/classic_published"
    adapter = ROOT / "src/chaosops/trained/adapter/adapter_model.safetensors"
    manifest = json.loads((shipped / "results.json").read_text(encoding="utf-8"))["manifest"]
    digest = hashlib.sha256(adapter.read_bytes()).hexdigest()
    assert digest[:12] in manifest["policies"]["trained"]["adapter"]
    rows = json.loads((shipped / "summary.json").read_text(encoding="utf-8"))
    table = markdown_table([row for row in rows if row["policy"] in ("oracle", "trained")])
    measured = [line for line in table.splitlines() if line.startswith("| trained")]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [_cells(line) for line in readme.splitlines() if line.startswith("| trained")] == [
        _cells(line) for line in measured
    ]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


def test_the_arena_page_shows_the_table_that_eval_prints() -> None:
    policies = ["random", "keyword", "heuristic", "last_toucher", "oracle"]
    results = evaluate(policies, scenarios(pack="arena", split="test"))
    assert markdown_table(results.summary()) in (ROOT / "docs/arena.md").read_text(encoding="utf-8")


def test_the_arena_page_shows_whole_files() -> None:
    page = (ROOT / "docs/arena.md").read_text(encoding="utf-8")
    arena = ROOT / "src/chaosops/packs/arena"
    for name in ("mechanisms/expired_certificate.py", "agents/cert_rotator.py"):
        assert (arena / name).read_text(encoding="utf-8") in page
