"""``chaosops arena leaks``"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from chaosops.cli import options
from chaosops.cli.options import Json, whole
from chaosops.cli.output import print, print_json
from chaosops.cli.progress import Progress
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.leaks import BAR, BARRED, Sample, detect_leaks, samples
from chaosops.packs import read_tier
from chaosops.report.tables import aligned


def execute(
    *,
    tier: options.Tier = "hard",
    train: Annotated[
        int, whole(100, help="prompts to read; the verdict holds for that many")
    ] = 15_000,
    test: Annotated[int, whole(100, help="unseen companies")] = 3000,
    json: Json = False,
) -> int:
    with Progress("companies") as progress:

        def draw(split: str, tier: Tier, count: int) -> Iterator[Sample]:
            for number, sample in enumerate(samples(split, tier, count), 1):
                progress.update(f"reading {split}", number, count)
                yield sample
            progress.update("training the detectors", 0, None)

        figures = detect_leaks(read_tier(tier), train, test, draw=draw)
    if json:
        print_json(figures)
        return 0 if figures["kept"] else 1
    columns = list(figures["curve"][0])
    rows = [[str(row[name]) for name in columns] for row in figures["curve"]]
    print(f"AUROC on {test} unseen companies of tier {tier}, by prompts read in training")
    print(aligned([name.replace("_", " ") for name in columns], rows, words=0))
    verdict = "kept" if figures["kept"] else "BROKEN"
    barred = ", ".join(name.replace("_", " ") for name in BARRED)
    print(f"bar for {barred}: at most {BAR} after {train} prompts ({verdict})")
    print("words with their numbers are a baseline without a bar: the amounts are the evidence")
    return 0 if figures["kept"] else 1
