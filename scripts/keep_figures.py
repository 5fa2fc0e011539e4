r"""Keep of a large evaluation what its tables need: the figures, and how they were made.

    python scripts/keep_figures.py results/report/rates_test \
        src/chaosops/trained/evaluations/rates_test

The episodes, most of its size, stay behind.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from chaosops.core.errors import ChaosOpsError
from chaosops.core.files import write_text
from chaosops.evaluation.results import JOURNAL_NAME, MONITOR
from chaosops.evaluation.stored import read_journal

MANIFEST = "manifest.json"


def keep(folder: Path, out: Path) -> None:
    job = {**read_journal(folder / JOURNAL_NAME)[0]["job"]}
    scenarios = job.pop("scenarios")
    for name in ("split", "tier"):
        job[f"{name}s"] = sorted({scenario[name] for scenario in scenarios})
    seeds = [scenario["seed"] for scenario in scenarios]
    job |= {"episodes": len(scenarios), "first_seed": min(seeds), "last_seed": max(seeds)}
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / MANIFEST, json.dumps(job, indent=1) + "\n")
    for name in ("summary.json", MONITOR, "table.md"):
        shutil.copyfile(folder / name, out / name)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python scripts/keep_figures.py FOLDER OUT")
    try:
        keep(*map(Path, sys.argv[1:]))
    except ChaosOpsError as error:
        sys.exit(f"keep_figures.py: {error}")
