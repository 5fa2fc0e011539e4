"""Keep of a training run what its curves and its card need.

    python experiments/thin_run.py RUN experiments/seeds/0/reading_first

Copies recipe, cost, baselines and counts of companies, every validation, and every 20th update.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.report.run_record import COST, RECIPE
from chaosops.report.training_figures import read_metrics
from chaosops.training.run_folder import METRICS
from chaosops.training.story import BASELINES, COMPANIES

EVERY = 20


def thin(run: Path, out: Path) -> int:
    """The number of rows that were kept."""
    read_metrics(run / METRICS)
    if not (run / RECIPE).is_file():
        raise BadInput(f"{run} holds no run: {run / RECIPE} is missing")
    lines = (run / METRICS).read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if _is_kept(json.loads(line))]
    out.mkdir(parents=True, exist_ok=True)
    (out / METRICS).write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    for name in (RECIPE, COST, BASELINES, COMPANIES):
        if (run / name).is_file():
            shutil.copyfile(run / name, out / name)
    return len(kept)


def _is_kept(row: dict[str, object]) -> bool:
    return "validation" in row or int(str(row["step"])) % EVERY == 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python experiments/thin_run.py RUN OUT")
    try:
        print(f"{sys.argv[2]}: {thin(*map(Path, sys.argv[1:]))} rows")
    except ChaosOpsError as error:
        sys.exit(f"thin_run.py: {error}")
