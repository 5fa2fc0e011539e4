"""``chaosops arena leaks``"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from chaosops.cli import options
from chaosops.cli.options import Json, whole
from chaosops.cli.output import print_result
from chaosops.cli.progress import Progress
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.leaks import BAR, BARRED, Sample, detect_leaks, samples
from chaosops.packs import DEFAULT_TIER
from chaosops.report.tables import aligned

Prompts = Annotated[int, whole(100)]


def execute(
    *,
    tier: options.Tier = DEFAULT_TIER,
    train: Prompts = 15_000,
    test: Prompts = 3000,
    json: Json = False,
) -> int:
    """
    Args:
        train: prompts to read; the verdict holds for that many
        test: unseen companies
    """
    with Progress("companies") as progress:

        def draw(split: str, tier: Tier, count: int) -> Iterator[Sample]:
            for number, sample in enumerate(samples(split, tier, count), 1):
                progress.update(f"reading {split}", number, count)
                yield sample
            progress.update("training the detectors", 0, None)

        figures = detect_leaks(tier, train, test, draw=draw)
    headers = [name.replace("_", " ") for name in figures["curve"][0]]
    rows = [list(map(str, row.values())) for row in figures["curve"]]
    verdict = "kept" if figures["kept"] else "BROKEN"
    barred = ", ".join(name.replace("_", " ") for name in BARRED)
    lines = [
        f"AUROC on {test} unseen companies of tier {tier}, by prompts read in training",
        aligned(headers, rows, words=0),
        f"bar for {barred}: at most {BAR} after {train} prompts ({verdict})",
        "words with their numbers are a baseline without a bar: the amounts are the evidence",
    ]
    print_result(figures, lines, as_json=json)
    return 0 if figures["kept"] else 1
