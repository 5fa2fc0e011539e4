"""A metric is one row of one table. Results that were written before it stay readable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chaosops.cli import main
from tests.extending.checkout import Checkout, fingerprint, fingerprint_here

WORDS = ("eval", "--pack", "arena", "--tiers", "hard", "--seeds", "2", "--no-figures")
POLICIES = ("--policies", "random,heuristic")
PAGE = """
import json, sys
from pathlib import Path
from chaosops.web.evaluations import Folder, read_evaluation
print(json.dumps(read_evaluation(Folder("key", "title", Path({folder!r}))).report))
"""
SUMMARY_ROW = (
    "evaluation/metrics.py",
    'Metric("wrong_fixes", "wrong fixes", _mean("wrong_fixes")),\n',
    '    Metric("misread", "misread words", _mean("miscommunications"), late=True),\n',
)
MONITOR_ROW = (
    "evaluation/monitor.py",
    'Metric("solved", "", _over(share_figure, lambda case: case.resolved)),\n',
    '    Metric("silent", "silent", _over(share_figure, lambda c: not c.flagged), late=True),\n',
)


@pytest.mark.parametrize(
    ("row", "title", "place", "in_old_results"),
    [
        (SUMMARY_ROW, "misread words", "table", "recomputed"),
        (MONITOR_ROW, "silent", "oversight", "left out"),
    ],
)
def test_a_metric_is_one_row_in_one_file(
    tmp_path: Path, row: tuple[str, str, str], title: str, place: str, in_old_results: str
) -> None:
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    assert main([*WORDS, *POLICIES, "--out", old]) == 0
    path, after, added = row
    checkout = Checkout(tmp_path)
    checkout.edit(path, after, after + added)
    assert checkout.touched() == {path}
    assert f" {title} |" in checkout.chaosops(*WORDS, *POLICIES, "--out", new)

    def shown(folder: str) -> list[str]:
        table = json.loads(checkout.python(PAGE.format(folder=folder)))[place]
        if title not in table["headers"]:
            return []
        return [row[table["headers"].index(title)] for row in table["rows"]]

    measured = shown(new)
    assert len(measured) == 2
    assert "n/a" not in measured
    assert shown(old) == (measured if in_old_results == "recomputed" else [])
    assert "nothing was changed" in checkout.chaosops("verify", old, new)
    checkout.chaosops("recount", old, "--no-figures")
    assert shown(old) == measured
    assert fingerprint(checkout) == fingerprint_here()
