"""Record the cases that the web page shows.

    python -m scripts.record_cases
    python -m scripts.record_cases --policies oversight=trained,others=heuristic

writes ``src/chaosops/web/cases/NAME.json``, a picture beside each, and keeps what other policies
have recorded there. A team is shown under the name of its Oversight.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from chaosops.web.case_recording import record
from chaosops.web.recorded_cases import FOLDER

POLICIES = ("heuristic", "auditor")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--policies", nargs="+", default=POLICIES, help="teams (default: %(default)s)"
    )
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder (default: %(default)s)")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for path in record(args.policies, args.out):
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
