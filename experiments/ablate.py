"""Ablations: change one part of the recipe at a time, with an equal number of updates.

    python experiments/ablate.py run VARIANT SEED OUT   # trains and judges one, on a GPU
    python experiments/ablate.py all OUT --at-once 4    # every variant on two seeds
    python experiments/ablate.py run VARIANT SEED OUT --base FOLDER   # the same with another model
    python experiments/ablate.py table experiments/ablations   # the table, with intervals

A variant is judged on validation companies (never trained on, not the test split) and on the
classic matrix. All episodes are kept. Differences to the reference are paired by episode. The
files in experiments/ablations were made on version 1 of the arena, by chaosops 0.1 and its recipe.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from chaosops.core.episode import Episode
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.statistics import mean, mean_ci95
from chaosops.packs import make_scenario
from chaosops.policies.llm.weights import embedded_dense
from chaosops.training.learner import Learner
from chaosops.training.learner_policy import LearnerPolicy
from chaosops.training.recipe_files import find_recipe, load_recipe
from chaosops.training.run import train
from chaosops.training.validation import FIRST_SEED, play_all
from chaosops.workers import Engine

SEEDS = 100  # a tier
COMMON: dict[str, Any] = {
    "steps": 300,
    "batch_tokens": 28_000,
    "validate_every": 0,
    "patience": 0,
    "compile": False,
    "classic_share": 0.3,
}
ORDERED = {"shuffle_tiers": False}
REFERENCE = "counterfactual, match"
# At the reference's rate a policy gradient from the base takes one reply only after 20 updates.
# With this entropy bonus its optimum has the same entropy as the reference's.
GENTLE = {"learning_rate": 1e-4, "entropy": 0.13}
# As GRPO is usually run.
DRAWN = {"objective": "sample", "learning_rate": 5e-5, "kl": 0.04}
VARIANTS: dict[str, dict[str, Any]] = {
    REFERENCE: {},
    "counterfactual, improve": {"objective": "improve", "temperature": 30.0, **GENTLE},
    "counterfactual, 16 drawn": DRAWN,
    "counterfactual, looking ahead": {
        "continuation": "lookahead",
        "objective": "improve",
        "temperature": 30.0,
        **GENTLE,
    },
    "single turn, match": {"continuation": "none"},
    "single turn, 16 drawn (flat GRPO)": {"continuation": "none", **DRAWN},
    "multiplier 2": {"rogue_bonus_multiplier": "2.0"},
    "multiplier 2 to 1": {"rogue_bonus_multiplier": "2.0->1.0"},
    "curriculum easy to hard": {**ORDERED, "curriculum": "easy:1,medium:1,hard:2"},
    "curriculum hard to easy": {**ORDERED, "curriculum": "hard:2,medium:1,easy:1"},
}


def run(variant: str, seed: int, out: Path, workers: int, base: Path | None) -> None:
    name = variant if base is None else f"{variant}, {base.name}"
    recipe = replace(
        load_recipe(find_recipe("reading_first")),
        name=name,
        seed=seed,
        first_seed=5_000 + 300_000 * seed,
        **COMMON,
        **VARIANTS[variant],
    )
    model = base or embedded_dense()
    folder = out / "-".join(
        [str(list(VARIANTS).index(variant)), str(seed), *([base.name] if base else [])]
    )
    began = time.monotonic()
    adapter = train(recipe, model, folder, engine=Engine(workers))
    seconds = round(time.monotonic() - began)
    policy = LearnerPolicy(Learner(model, replace(recipe, start=str(adapter))))
    arena = [
        make_scenario(pack="arena", split="train", tier=tier, seed=FIRST_SEED + k)
        for tier in Tier
        for k in range(SEEDS)
    ]
    played = [*play_all(policy, arena), *play_all(policy, scenarios("published"))]
    found = {
        "variant": name,
        "seed": seed,
        "seconds": seconds,
        "episodes": [_row(episode) for episode in played],
    }
    (folder / "judged.json").write_text(json.dumps(found) + "\n", encoding="utf-8")


def _row(episode: Episode) -> dict[str, Any]:
    return {
        "group": f"{episode.scenario.pack} {episode.scenario.tier.value}",
        "reward": episode.reward,
        "solved": episode.resolved,
        "caught": episode.rogue_caught,
        "false_flags": episode.false_flags if episode.rogue is None else None,
    }


def run_all(out: Path, at_once: int, workers: int) -> None:
    def one(job: tuple[int, str]) -> None:
        seed, variant = job
        command = [sys.executable, __file__, "run", variant, str(seed), str(out)]
        log = out / f"{list(VARIANTS).index(variant)}-{seed}.log"
        with log.open("w", encoding="utf-8") as file:
            done = subprocess.run([*command, "--workers", str(workers)], stdout=file, stderr=file)
        print(f"{variant}, seed {seed}: exit {done.returncode}", flush=True)

    out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, [(seed, variant) for seed in (0, 1) for variant in VARIANTS]))


def _judged(out: Path) -> list[Path]:
    """The results in the folders of the runs, or in one file for each run."""
    return sorted([*out.glob("*/judged.json"), *out.glob("*.json")])


def table(out: Path) -> str:
    """Mean over the training seeds; in brackets the 95 % interval of the paired difference."""
    judged = [json.loads(path.read_text(encoding="utf-8")) for path in _judged(out)]
    runs = {(found["variant"], found["seed"]): found["episodes"] for found in judged}
    cost = {(found["variant"], found["seed"]): found["seconds"] for found in judged}
    names = [*VARIANTS, *sorted({name for name, _ in runs} - set(VARIANTS))]
    groups = [f"arena {tier.value}" for tier in Tier] + ["classic hard"]
    lines = [
        "| variant | "
        + " | ".join(groups)
        + " | caught, arena hard | false flags / benign | seconds |",
        "|---|" + "---|" * (len(groups) + 3),
    ]
    for variant in names:
        seeds = sorted(seed for name, seed in runs if name == variant)
        if not seeds:
            continue
        cells = []
        for group in groups:
            mine = [e["reward"] for s in seeds for e in runs[variant, s] if e["group"] == group]
            theirs = [e["reward"] for s in seeds for e in runs[REFERENCE, s] if e["group"] == group]
            cell = f"{mean(mine):+.0f}"
            if variant != REFERENCE:
                found = mean_ci95([a - b for a, b in zip(mine, theirs, strict=True)])
                cell += " [n/a]" if found is None else f" [{found[0]:+.0f}, {found[1]:+.0f}]"
            cells.append(cell)
        every = [e for s in seeds for e in runs[variant, s] if e["group"].startswith("arena")]
        hard = [e["caught"] for e in every if e["group"] == "arena hard"]
        caught = mean([float(c) for c in hard if c is not None])
        false = mean([float(e["false_flags"]) for e in every if e["false_flags"] is not None])
        cells.append("n/a" if caught is None else f"{caught:.0%}")
        cells.append("n/a" if false is None else f"{false:.2f}")
        cells.append(f"{mean([cost[variant, seed] for seed in seeds]):.0f}")
        lines.append(f"| {variant} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_subparsers(dest="what", required=True)
    single = what.add_parser("run")
    single.add_argument("variant", choices=VARIANTS)
    single.add_argument("seed", type=int)
    single.add_argument("--base", type=Path)
    every = what.add_parser("all")
    every.add_argument("--at-once", type=int, default=4)
    for sub in (single, every):
        sub.add_argument("--workers", type=int, default=3)
    for sub in (single, every, what.add_parser("table")):
        sub.add_argument("out", type=Path)
    args = parser.parse_args()
    if args.what == "run":
        run(args.variant, args.seed, args.out, args.workers, args.base)
    elif args.what == "all":
        run_all(args.out, args.at_once, args.workers)
    else:
        print(table(args.out))
