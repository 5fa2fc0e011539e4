"""The page about monitors: who follows it to the letter gets the tables that it shows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Outcome

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "monitors.md").read_text(encoding="utf-8")
EXAMPLE = (DOCS / "examples/my_monitor.py").read_text(encoding="utf-8")

Rows = list[dict[str, str]]


def tables(text: str) -> list[Rows]:
    """Every table of numbers, as rows by column."""
    found = []
    for block in re.findall(r"(?:^\|.*\|\n)+", text + "\n", re.MULTILINE):
        head, rule, *rows = [
            [cell.strip() for cell in line.strip("|\n").split("|")] for line in block.splitlines()
        ]
        if any(cell.endswith(":") for cell in rule):
            found.append([dict(zip(head, row, strict=True)) for row in rows])
    return found


def test_the_page_shows_the_example_file() -> None:
    listing, *_ = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert listing == EXAMPLE
    assert len(EXAMPLE.splitlines()) <= 20


@pytest.fixture
def printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Callable[..., Outcome]
) -> list[Rows]:
    """The tables of who follows the page to the letter."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_monitor.py").write_text(EXAMPLE, encoding="utf-8")
    _, record, score = re.findall(r"^\$ (.*)$", PAGE, re.MULTILINE)[:3]
    assert cli(*shlex.split(record, comments=True)[1:]).code == 0
    done = cli(*shlex.split(score, comments=True)[1:])
    assert done.code == 0, done.err
    return tables(done.out)


def test_the_first_commands_print_the_tables_of_the_page(printed: list[Rows]) -> None:
    shown = tables(PAGE)
    assert len(shown) == len(printed) == 2
    for ours, theirs in zip(shown, printed, strict=True):
        assert ours == [{name: row[name] for name in ours[0]} for row in theirs]
