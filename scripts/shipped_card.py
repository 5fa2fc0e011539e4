"""Write the card of the adapter that ships, src/chaosops/trained/README.md, from its files.

python scripts/shipped_card.py            # write
python scripts/shipped_card.py --check    # exit status 1 if it is out of date
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from result_tables import rates
from shipped_files import OURS, ROOT, Files

from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.printable import printable
from chaosops.evaluation.stored import results_file
from chaosops.report.evaluated import read_evaluated
from chaosops.report.model_card import Shipped, model_card
from chaosops.report.run_record import failed_runs, read_run

CARD = "README.md"


def card(files: Files) -> str:
    stages = files.stages()
    if not stages:
        raise BadInput(f"{files.trained / 'training'} holds no run; put its folder there")
    last = stages[-1].folder
    run = read_run(last, files.trained / "adapter")
    cure = f"evaluate it again: chaosops eval --policies {OURS}"
    # A folder without episodes holds figures alone, which stand in the table of rates.
    played = [folder for folder in files.folders() if results_file(folder)]
    evaluations = [read_evaluated(folder, run.adapter, cure) for folder in played]
    shipped = Shipped(f"training/{last.name}/", OURS, stages, files.seeds(), rates(files))
    failures = failed_runs(files.root / "experiments/LOG.md")
    return printable(model_card(run, evaluations, failures, shipped=shipped))


def main(words: Sequence[str], root: Path = ROOT) -> int:
    if unknown := [word for word in words if word != "--check"]:
        print(f"shipped_card.py: unexpected argument {unknown[0]}; only --check is known")
        return 2
    files = Files(root)
    place = files.trained / CARD
    try:
        text = card(files)
    except ChaosOpsError as error:
        print(f"shipped_card.py: {error}")
        return 2
    if place.is_file() and place.read_text(encoding="utf-8") == text:
        return 0
    if "--check" in words:
        print(f"{place}: out of date")
        return 1
    place.write_text(text, encoding="utf-8")
    print(f"{place}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
