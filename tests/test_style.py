"""What no linter checks: sizes of files and functions, and the words of the glossary."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = sorted((ROOT / "docs").glob("*.md"))
MAX_FILE = 300
MAX_FUNCTION = 50

# Metaphors and the word to use instead; see docs/glossary.md.
RETIRED = {
    r"shelf": "policy cache",
    r"at (the|its|his) desk": "queue",
    r"rails": "guard rails, KL limit or entropy alarm",
    r"front door|no other door|at the door": "entry point, guard or route",
    r"\bhe\b|\bhis\b|\bhim\b": "they, or the noun",
}


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            yield node.name, node.end_lineno - node.lineno + 1


def test_no_source_file_is_long() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {str(path.relative_to(ROOT)): n for path, n in lines.items() if n > MAX_FILE} == {}


def test_no_function_is_long() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{name}": length
        for path in SOURCES
        for name, length in functions(path)
        if length > MAX_FUNCTION
    }
    assert found == {}


@pytest.mark.parametrize(("pattern", "instead"), RETIRED.items(), ids=list(RETIRED.values()))
def test_retired_words_do_not_come_back(pattern: str, instead: str) -> None:
    places = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in (*SOURCES, *PAGES)
        if path.name != "names.py"  # the words there are names of services
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(rf"\b(?:{pattern})\b", line.replace("guard rails", ""), re.IGNORECASE)
    ]
    assert places == [], f"say {instead}"
