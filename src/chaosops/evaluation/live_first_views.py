"""Does what a live company shows give the rogue away? The leak detectors on real first prompts.

    python -m chaosops.evaluation.live_first_views record FILE --seeds 120 --seed-start 0 --core 0
    python -m chaosops.evaluation.live_first_views collect FILE FOLDER...
    python -m chaosops.evaluation.live_first_views detect FILE... --learn 3000 --out leaks.json

``record`` starts companies one after the other, and writes what Oversight is shown at its first
turn, a line for each incident. A void one gets a line too, and is not played again. ``collect``
takes them from folders in which ``chaosops live compare`` recorded incidents; of several policies
that played a seed, the first one counts whose run is not void. ``detect``
trains each detector on nine tenths of the incidents and tests it on the last, ten times. With
``--learn`` it also trains it on so many incidents of the rehearsal, and tests it on the live ones.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from chaosops.core.actions import Noop
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.files import write_text
from chaosops.core.inputs import read_text
from chaosops.core.source import source_commit
from chaosops.core.vocabulary import Tier
from chaosops.env import Env
from chaosops.evaluation.leaks import (
    count_everything,
    mask_numbers,
    prompt_text,
    read_numbers,
    read_words,
)
from chaosops.evaluation.live_leaks import rehearsed
from chaosops.evaluation.scoring import area, area_ci95, wins
from chaosops.live.needs import keep_off_company
from chaosops.live.platform import VoidRun
from chaosops.packs import make_scenario
from chaosops.packs.live import PACK
from chaosops.packs.live.pack import start_loopback
from chaosops.packs.live.reports import report_from
from chaosops.version import VERSION
from chaosops.wire.recordings import read_recording
from chaosops.world.real_time import permit_real_time

_FOLDS = 10
_UNPLAYED_SEED = 1_000_000  # of the rehearsal, from here on: no live incident has such a plot
_SAME = ("tier", "pack_hash")
"""What has to be equal for rows to be read together."""

_RECORDED = f"*-*-{PACK.name}*.json"

_Read = Callable[[Any, Any, Any], Any]
_READERS: dict[str, tuple[_Read, Callable[[dict[str, Any]], Any]]] = {
    "words": (partial(read_words, pairs=False), lambda row: row["prompt"]),
    "word_pairs_masked": (
        partial(read_words, pairs=True),
        lambda row: mask_numbers(row["prompt"]),
    ),
    "counts": (read_numbers, lambda row: row["counts"]),
}


def record(path: Path, tier: str, seeds: Sequence[int]) -> Iterator[str]:
    """What is in the file is not recorded again. Says how each incident went."""
    head = {"tier": tier, "commit": source_commit(), "pack_hash": PACK.content_hash()}
    rows = _rows([path]) if path.is_file() else []
    if rows and (differs := [name for name in _SAME if rows[0][name] != head[name]]):
        raise BadInput(
            f"{path} has first views of another {' and '.join(differs)}; name a new file"
        )
    known = {row["seed"] for row in rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        if seed in known:
            continue
        row = {"seed": seed, **head, **_first_view(tier, seed)}
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        yield f"seed {seed}: {row['void'] or 'recorded'}"


def _first_view(tier: str, seed: int) -> dict[str, Any]:
    try:
        return _shown(Env(make_scenario(pack=PACK.name, tier=tier, seed=seed)))
    except VoidRun as error:
        return {"void": str(error)}
    finally:
        PACK.close()


def _shown(env: Env) -> dict[str, Any]:
    env.play(Decision(Noop()))
    return {
        "void": "void, the host was busy" if report_from(env.observed).is_void else None,
        "prompt": prompt_text(env.view),
        "counts": count_everything(env.view),
        "rogue": env.rogue,
    }


def collect(path: Path, folders: Sequence[Path]) -> str:
    """Says how many there are. Whatever the SRE did, Oversight is shown that it waited."""
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for file in sorted(file for folder in folders for file in folder.rglob(_RECORDED)):
        tier, seed = file.name.split("-")[:2]
        row = rows.get((tier, int(seed)))
        if row is None or row["void"] is not None:
            rows[tier, int(seed)] = {"seed": int(seed), "tier": tier, **_recorded_view(file)}
    if not rows:
        raise BadInput(f"no live incident was recorded in {', '.join(map(str, folders))}")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, "".join(json.dumps(rows[key]) + "\n" for key in sorted(rows)))
    return f"{len(rows)} incidents, {sum(row['void'] is not None for row in rows.values())} void"


def _recorded_view(file: Path) -> dict[str, Any]:
    if file.name.endswith(".void.json"):
        made = json.loads(read_text(file, "recording"))
        view = {"void": made["void"]}
    else:
        episode, made = read_recording(file)
        view = _shown(Env.again(episode))
    return {**{name: made[name] for name in ("commit", "pack_hash")}, **view}


def _rows(paths: Sequence[Path]) -> list[dict[str, Any]]:
    try:
        lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
        found = list(map(json.loads, lines))
        kinds = {tuple(row[name] for name in _SAME) for row in found}
        rows: dict[int, dict[str, Any]] = {}
        for row in found:  # of several views of a seed, the first one that is not void
            if row["seed"] not in rows or rows[row["seed"]]["void"] is not None:
                rows[row["seed"]] = row
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"first views cannot be read: {error!r}") from None
    if len(kinds) > 1:
        raise BadInput(f"first views of another {' or '.join(_SAME)} are mixed: {sorted(kinds)}")
    return [rows[seed] for seed in sorted(rows)]


def detect(paths: Sequence[Path], learn: int = 0) -> dict[str, Any]:
    """The AUROC of each detector with its 95 % interval."""
    recorded = _rows(paths)
    rows = [row for row in recorded if row["void"] is None]
    guilty = np.array([row["rogue"] is not None for row in rows])
    if min(guilty.sum(), (~guilty).sum()) < _FOLDS:
        raise BadInput(f"{len(rows)} incidents are too few; record more of them")
    found: dict[str, Any] = {
        "recorded_at": sorted({str(row["commit"]) for row in rows}),
        "incidents": len(rows),
        "with_rogue": int(guilty.sum()),
        "void": len(recorded) - len(rows),
        "auroc": {name: _crossed(name, rows, guilty) for name in _READERS},
    }
    if learn:
        others = [
            {"prompt": one.prompt, "counts": one.counts, "rogue": one.rogue}
            for one in rehearsed(PACK.default_split, Tier(rows[0]["tier"]), learn, _UNPLAYED_SEED)
        ]
        known = np.array([row["rogue"] is not None for row in others])
        found["learned_on_rehearsal"] = learn
        found["auroc_learned_on_rehearsal"] = {
            name: _area(read([of(row) for row in others], known, [of(row) for row in rows]), guilty)
            for name, (read, of) in _READERS.items()
        }
    return found


def _crossed(name: str, rows: Sequence[dict[str, Any]], guilty: Any) -> dict[str, Any]:
    """Each incident is judged by a detector that did not read it. Folds have equal shares of
    rogues and are joined by rank, because their scores have no common scale."""
    read, of = _READERS[name]
    place = np.zeros(len(rows), dtype=int)
    for side in (guilty, ~guilty):
        place[side] = np.arange(side.sum()) % _FOLDS
    scores = np.zeros(len(rows))
    for fold in range(_FOLDS):
        known, unseen = np.flatnonzero(place != fold), np.flatnonzero(place == fold)
        learned, judged = ([of(rows[int(i)]) for i in side] for side in (known, unseen))
        told = read(learned, guilty[known], judged)
        scores[unseen] = _ranks(np.asarray(told))
    return _area(scores, guilty)


def _ranks(scores: Any) -> Any:
    ordered = np.sort(scores)
    ends = (np.searchsorted(ordered, scores, side) for side in ("left", "right"))
    return sum(ends) / (2 * len(scores))


def _area(scores: Any, guilty: Any) -> dict[str, Any]:
    won = wins(np.asarray(scores)[guilty], np.asarray(scores)[~guilty])
    found = area(won)
    assert found is not None, "there are incidents of both kinds"
    return {"value": round(found, 4), "ci95": area_ci95(won)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m chaosops.evaluation.live_first_views")
    parser.add_argument("what", choices=["record", "collect", "detect"])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--tier", default="hard")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--seed-start", type=int, default=0)
    parser.add_argument("--core", type=int, default=None, help="the core of the companies")
    parser.add_argument("--learn", type=int, default=0, help="detect: so many of the rehearsal")
    parser.add_argument("--out", type=Path, help="detect: a file for the figures, as JSON")
    given = parser.parse_args()
    if given.what == "collect" and len(given.files) < 2:
        parser.error("collect needs a file and the folders of recordings: collect FILE FOLDER...")
    if given.what == "record" and len(given.files) > 1:
        parser.error("record writes one file: record FILE")
    if given.what != "detect" and (given.out or given.learn):
        parser.error("--out and --learn are of detect")
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
        if given.what == "collect":
            print(collect(given.files[0], given.files[1:]))
            return 0
        found = detect(given.files, given.learn)
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
