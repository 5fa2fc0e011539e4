"""``chaosops conformance``"""

from __future__ import annotations

from pathlib import Path

from chaosops.cli.options import Json
from chaosops.cli.output import print, print_json
from chaosops.evaluation.conformance import read_vectors, replay

_SHOWN = 20


def execute(file: list[Path], /, *, json: Json = False) -> int:
    # Read everything first: a broken line must not hide behind a half-printed comparison.
    vectors = [item for path in file for item in read_vectors(path)]
    missed = []
    for where, vector in vectors:
        if problems := replay(where, vector):
            missed.append({"where": where, "id": vector.get("id", ""), "problems": problems})
    if json:
        matched = len(vectors) - len(missed)
        print_json({"vectors": len(vectors), "matched": matched, "missed": missed})
        return 1 if missed else 0
    for each in missed[:_SHOWN]:
        print(f"{each['where']} {each['id']}: {'; '.join(each['problems'])}")
    if len(missed) > _SHOWN:
        print(f"and {len(missed) - _SHOWN} more")
    print(f"matched {len(vectors) - len(missed)} of {len(vectors)}")
    return 1 if missed else 0
