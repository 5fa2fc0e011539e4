"""``chaosops conformance``"""

from __future__ import annotations

from pathlib import Path

from chaosops.cli.options import Json
from chaosops.cli.output import print_result
from chaosops.evaluation.conformance import read_vectors, replay

_SHOWN = 20


def execute(file: list[Path], /, *, json: Json = False) -> int:
    """
    Args:
        file: recordings, results.json, journals, vectors, or output of run --json
    """
    # Read everything first, so that an error in a line comes before any output.
    vectors = [item for path in file for item in read_vectors(path)]
    missed = []
    for where, vector in vectors:
        if problems := replay(where, vector):
            missed.append({"where": where, "id": vector.get("id", ""), "problems": problems})
    matched = len(vectors) - len(missed)
    lines = [f"{each['where']} {each['id']}: {'; '.join(each['problems'])}" for each in missed]
    if len(missed) > _SHOWN:
        lines[_SHOWN:] = [f"and {len(missed) - _SHOWN} more"]
    lines.append(f"matched {matched} of {len(vectors)}")
    found = {"vectors": len(vectors), "matched": matched, "missed": missed}
    print_result(found, lines, as_json=json)
    return 1 if missed else 0
