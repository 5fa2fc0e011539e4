"""How much faster ``chaosops eval`` is with workers, and whether it writes the same bytes.

    python experiments/scale.py                          # scripts: serial, --workers 2, --ray local
    python experiments/scale.py --policy local:smollm2 --seeds 8 --workers 2
    python experiments/scale.py --workers 2 4 8 16       # on a larger machine

The machine must be idle. CPU seconds are of all processes together, except those of Ray's workers,
which are not children of the command.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = [sys.executable, "-c", "import sys; from chaosops.cli import main; sys.exit(main())"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--policy", default="heuristic")
    parser.add_argument("--pack", default="arena")
    parser.add_argument("--tier", default="hard")
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--workers", type=int, nargs="*", default=[2])
    parser.add_argument("--no-ray", action="store_true")
    args = parser.parse_args()
    words = ["eval", "--policies", args.policy, "--pack", args.pack, "--tiers", args.tier]
    words += ["--seeds", str(args.seeds), "--no-figures", "--out", "out"]
    ways = [[], *(["--workers", str(count)] for count in args.workers)]
    if not args.no_ray:
        ways += [["--ray", "local", "--workers", str(max(args.workers))]]
    print("| | seconds | CPU seconds | episodes a second | times serial | same bytes |")
    print("|---|---:|---:|---:|---:|---|")
    first: tuple[float, dict[str, bytes]] | None = None
    for way in ways:
        seconds, cpu, files = measured([*words, *way])
        first = first or (seconds, files)
        print(
            f"| `{' '.join(way) or 'serial'}` | {seconds:.1f} | {cpu:.1f} | "
            f"{args.seeds / seconds:.1f} | {first[0] / seconds:.2f} | "
            f"{'yes' if files == first[1] else 'NO'} |",
            flush=True,
        )


def measured(words: list[str]) -> tuple[float, float, dict[str, bytes]]:
    folder = Path(tempfile.mkdtemp())
    try:
        before, began = _cpu(), time.monotonic()
        subprocess.run([*COMMAND, *words], cwd=folder, check=True, capture_output=True)
        seconds = time.monotonic() - began
        files = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
        return seconds, _cpu() - before, files
    finally:
        shutil.rmtree(folder)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
