"""Faults in files of the user's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput, UnknownName
from chaosops.live import faults
from chaosops.live.doses import plan_with

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_live_fault.py"


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    faults._ADDED.clear()
    faults.ADDED_FROM.clear()
    faults.load_faults.cache_clear()


def test_the_example_is_one_of_the_faults() -> None:
    before = set(faults.load_faults())
    fault = faults.add_fault(str(EXAMPLE))
    assert set(faults.load_faults()) - before == {"answer_limit"}
    assert faults.remedies()["answer_kb"] == "rollback"
    assert fault.services == ("catalog",)
    assert "answer_limit" in {one.fault for one in plan_with(30).settings}
    assert [f"{EXAMPLE}:FAULT"] == faults.ADDED_FROM


def test_a_file_without_a_fault_is_refused_in_one_line(tmp_path: Path) -> None:
    start = "from chaosops.live.faults import Fault\nclass Own(Fault):\n"
    for text, wanted in (
        ("FAULT = 3\n", "has to be an object"),
        (f"{start}    mechanism = 'own'\nFAULT = Own()\n", "has to set setting, harmful"),
    ):
        path = tmp_path / f"own_{len(text)}.py"
        path.write_text(text)
        with pytest.raises(BadInput, match=wanted) as found:
            faults.add_fault(str(path))
        assert "\n" not in str(found.value)
    with pytest.raises(BadInput):
        faults.add_fault(str(tmp_path / "missing.py"))


def test_a_service_that_the_company_does_not_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "elsewhere.py"
    path.write_text(EXAMPLE.read_text().replace('("catalog",)', '("catalogue",)'))
    with pytest.raises(UnknownName, match="catalog"):
        faults.add_fault(str(path))
