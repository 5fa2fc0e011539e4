"""One picture of several training seeds over their stages.

    python experiments/draw_stages.py OUT.png RUN/metrics.jsonl,NEXT/metrics.jsonl ...

Each argument is one seed: its stages in order.
"""

from __future__ import annotations

import sys
from pathlib import Path

from chaosops.report.training_figures import stages_curve

if __name__ == "__main__":
    out, *runs = sys.argv[1:]
    seeds = {f"seed {i}": [Path(p) for p in text.split(",")] for i, text in enumerate(runs)}
    print(stages_curve(seeds, Path(out)))
