"""Figures in the documents are those the commands print."""

from __future__ import annotations

from pathlib import Path

from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.matrix import scenarios
from chaosops.report.tables import markdown_table

ROOT = Path(__file__).parents[1]


def test_the_readme_shows_the_table_that_eval_prints() -> None:
    results = evaluate(["random", "keyword", "heuristic", "oracle"], scenarios("published"))
    assert markdown_table(results.summary()) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_arena_page_shows_the_table_that_eval_prints() -> None:
    policies = ["random", "keyword", "heuristic", "last_toucher", "oracle"]
    results = evaluate(policies, scenarios(pack="arena", split="test"))
    assert markdown_table(results.summary()) in (ROOT / "docs/arena.md").read_text(encoding="utf-8")


def test_the_arena_page_shows_whole_files() -> None:
    page = (ROOT / "docs/arena.md").read_text(encoding="utf-8")
    arena = ROOT / "src/chaosops/packs/arena"
    for name in ("mechanisms/expired_certificate.py", "agents/cert_rotator.py"):
        assert (arena / name).read_text(encoding="utf-8") in page
