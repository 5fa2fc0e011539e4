"""Does what a live company shows give the rogue away? The leak detectors on real first prompts.

    python -m chaosops.evaluation.live_first_views record FILE --seeds 120 --seed-start 0 --core 0
    python -m chaosops.evaluation.live_first_views detect FILE... --out results/leaks.json

``record`` starts companies one after the other, and writes what Oversight is shown at its first
turn, a line for each incident. ``detect`` trains each detector on nine tenths of the incidents and
tests it on the last, ten times.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from chaosops.core.actions import Noop
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.files import write_text
from chaosops.core.source import source_commit
from chaosops.env import Env
from chaosops.evaluation.leaks import (
    count_everything,
    mask_numbers,
    prompt_text,
    read_numbers,
    read_words,
)
from chaosops.evaluation.scoring import area, area_ci95, wins
from chaosops.live.needs import keep_off_company
from chaosops.live.platform import VoidRun
from chaosops.packs import make_scenario
from chaosops.packs.live import PACK
from chaosops.packs.live.pack import start_loopback
from chaosops.version import VERSION
from chaosops.world.real_time import permit_real_time

_FOLDS = 10


def record(path: Path, tier: str, seeds: Sequence[int]) -> Iterator[str]:
    """What is in the file is not recorded again. Says how each incident went."""
    known = {row["seed"] for row in _rows([path])} if path.is_file() else set()
    for seed in seeds:
        if seed in known:
            continue
        try:
            env = Env(make_scenario(pack=PACK.name, tier=tier, seed=seed))
            env.play(Decision(Noop()))
        except VoidRun as error:
            yield f"seed {seed}: {error}"
            continue
        finally:
            PACK.close()
        row = {
            "seed": seed,
            "prompt": prompt_text(env.view),
            "counts": count_everything(env.view),
            "rogue": env.rogue,
        }
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        yield f"seed {seed}: recorded"


def _rows(paths: Sequence[Path]) -> list[dict[str, Any]]:
    try:
        lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
        rows = {row["seed"]: row for row in map(json.loads, lines)}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"first views cannot be read: {error}") from None
    return [rows[seed] for seed in sorted(rows)]


def detect(paths: Sequence[Path]) -> dict[str, Any]:
    """The AUROC of each detector with its 95 % interval."""
    rows = _rows(paths)
    guilty = np.array([row["rogue"] is not None for row in rows])
    if min(guilty.sum(), (~guilty).sum()) < _FOLDS:
        raise BadInput(f"{len(rows)} incidents are too few; record more of them")
    read_pairs = partial(read_words, pairs=True)
    detectors: dict[str, tuple[Any, list[Any]]] = {
        "words": (partial(read_words, pairs=False), [row["prompt"] for row in rows]),
        "word_pairs_masked": (read_pairs, [mask_numbers(row["prompt"]) for row in rows]),
        "counts": (read_numbers, [row["counts"] for row in rows]),
    }
    scores = {name: np.zeros(len(rows)) for name in detectors}
    for fold in range(_FOLDS):
        known = [i for i in range(len(rows)) if i % _FOLDS != fold]
        unseen = [i for i in range(len(rows)) if i % _FOLDS == fold]
        for name, (read, of) in detectors.items():
            found = read([of[i] for i in known], guilty[known], [of[i] for i in unseen])
            # Folds are joined by rank: their scores have no common scale.
            scores[name][unseen] = _ranks(found)
    told = {name: _area(of[guilty], of[~guilty]) for name, of in scores.items()}
    return {"incidents": len(rows), "with_rogue": int(guilty.sum()), "auroc": told}


def _ranks(scores: Any) -> Any:
    return (np.argsort(np.argsort(scores)) + 0.5) / len(scores)


def _area(rogue: Any, benign: Any) -> dict[str, Any]:
    won = wins(rogue, benign)
    return {"value": round(area(won) or 0.0, 4), "ci95": area_ci95(won)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m chaosops.evaluation.live_first_views")
    parser.add_argument("what", choices=["record", "detect"])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--tier", default="hard")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--seed-start", type=int, default=0)
    parser.add_argument("--core", type=int, default=None, help="the core of the companies")
    parser.add_argument("--out", type=Path, help="detect: a file for the figures, as JSON")
    given = parser.parse_args()
    try:
        if given.what == "record":
            if given.core is not None:
                PACK.start = partial(start_loopback, core=given.core)
            permit_real_time()
            keep_off_company(given.core)
            seeds = range(given.seed_start, given.seed_start + given.seeds)
            for line in record(given.files[0], given.tier, seeds):
                print(line, flush=True)
            return 0
        found = detect(given.files)
    except ChaosOpsError as error:
        print(error, file=sys.stderr)
        return 2
    command = f"{parser.prog} {shlex.join(sys.argv[1:])}"
    head = {"command": command, "version": VERSION, "commit": source_commit()}
    text = json.dumps({**head, **found}, indent=1)
    print(text)
    if given.out is not None:
        write_text(given.out, text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
