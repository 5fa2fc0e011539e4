"""Small evaluations of scripts, for the pages of figures."""

from __future__ import annotations

import json
from pathlib import Path

from chaosops.core.vocabulary import Tier
from chaosops.evaluation.matrix import scenarios
from chaosops.training.story import (
    count_companies,
    play_scripts,
    tell_story,
    write_baselines,
    write_companies,
)
from chaosops.training.validation import validation_rows

SEEDS = 12
POLICIES = ("random", "heuristic", "auditor")


def evaluate_splits(place: Path, *splits: str, pack: str = "arena") -> None:
    from chaosops.cli import main

    for split in splits:
        words = f"eval --pack {pack} --split {split} --seeds {SEEDS} --tiers easy,hard --no-figures"
        out = ["--policies", ",".join(POLICIES), "--out", str(place / f"{pack}_{split}")]
        assert main([*words.split(), *out]) == 0


def pretend_run(folder: Path) -> None:
    """A run whose learner acts like a script at each validation, the weakest first."""
    folder.mkdir(parents=True)
    matrix = scenarios(
        pack="arena", split="train", tiers=[Tier.EASY, Tier.HARD], seeds=4, seed_start=500
    )
    played = play_scripts(matrix)
    write_baselines(folder, played)
    write_companies(folder, count_companies(next(iter(played.values()))))
    rows: list[dict[str, object]] = []
    for number, episodes in enumerate(played.values()):
        step = 500 * number
        tell_story(folder, step, episodes)
        nats = {"step": step, "kl_from_start": 0.1 * number}
        rows.append({**nats, "validation": validation_rows(episodes)})
        regret = {"arena oversight": 100.0 / (number + 1)}
        rows.append(
            {"step": step + 1, "loss": 1.0 / (number + 1), "regret": regret, "tiers": {"hard": 1}}
        )
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
