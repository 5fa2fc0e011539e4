"""GRPO with TRL from the untrained base: with all remedies, with none, with all but one, and
method menu's ``match`` on the same states.

    python experiments/grpo_ablate.py all OUT --minutes 3     # states, every row at once, table
    python experiments/grpo_ablate.py states FILE             # the states alone, once for all rows
    python experiments/grpo_ablate.py run ROW OUT --states FILE
    python experiments/grpo_ablate.py table OUT

Every row sees the same turns in the same order, each prompt once, so tokens are equal. A row ends
after its updates or its minutes. Then it plays, greedy, the published classic matrix and companies
of the arena that are never trained on. OUT/ROW.jsonl grows with every update, and its last line is
what was played: a kill loses nothing. ``--base`` takes a folder of weights. Where pyarrow is
missing, no_arrow.py stands in for it.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ablation_table import table
from no_arrow import install

from chaosops.core.actions import Noop
from chaosops.core.episode import Episode
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.statistics import mean
from chaosops.policies.llm.weights import embedded_dense
from chaosops.policies.protocol import Policy
from chaosops.training.process_group import ProcessGroup
from chaosops.training.recipe import Recipe
from chaosops.training.recipe_files import find_recipe, load_recipe
from chaosops.training.run_folder import enter_folder
from chaosops.training.single_turns import Prompt, judged_ahead, prompts_of
from chaosops.training.validation import FIRST_SEED, play_all

MATCH = "match"
STEPS = 160
HELD_OUT = 200  # states that are never trained on
LOOK_EVERY = 40  # updates between two looks at them
ARENA_SEEDS = {Tier.EASY: 100, Tier.MEDIUM: 40}
COMMON: dict[str, Any] = {
    "steps": STEPS,
    "validate_every": 0,
    "checkpoint_every": 100_000,
    "prompts_per_step": 20,
    "batch_tokens": 16_000,
    "curriculum": "easy:2,medium:1",
    "classic_share": 0.5,
}
PARTS: dict[str, tuple[str, ...]] = {
    "best replies": ("virtual_best", "virtual_gamma"),
    "bound on bad": ("bound_bad",),
    "entropy target": ("entropy_target", "entropy_step"),
    "idle reward": ("idle_reward",),
    "floor": ("floor", "floor_steps"),
    "kept groups": ("keep_groups",),
}
OTHERS: dict[str, dict[str, Any]] = {
    "all, one best reply": {"virtual_best": 1},
    "all, idle reward 1": {"idle_reward": 1.0},
    "all, idle reward -10": {"idle_reward": -10.0},
    "all, floor 0.3": {"floor": 0.3, "floor_steps": 80},
    "all, half the rate": {"learning_rate": 4e-4},
    "all, eight best replies": {"virtual_best": 8},
}


class States(NamedTuple):
    trained: list[Prompt]
    held_out: list[Prompt]


def full_recipe() -> Recipe:
    return replace(load_recipe(find_recipe("trl_remedied")), **COMMON)


def rows(change: Mapping[str, Any] = {}) -> dict[str, Recipe]:
    """The rows of the table; after them, others worth a look."""
    full = replace(full_recipe(), **change)
    found = {"all": full, "none": _plain(list(PARTS), full)}
    for name in PARTS:
        if (plain := _plain([name], full)) != full:
            found[f"all but {name}"] = plain
    return {name: replace(recipe, name=name) for name, recipe in found.items()}


def other_rows(change: Mapping[str, Any] = {}) -> dict[str, Recipe]:
    full = replace(full_recipe(), **change)
    return {name: replace(full, name=name, **values) for name, values in OTHERS.items()}


def _plain(names: Sequence[str], full: Recipe) -> Recipe:
    """Without the values of these parts."""
    fields = Recipe.__dataclass_fields__
    off: dict[str, Any] = {field: fields[field].default for name in names for field in PARTS[name]}
    return replace(full, **off)


# States


def make_states(file: Path, recipe: Recipe, workers: int) -> None:
    """The turns of all rows, every legal reply judged."""
    apart = replace(recipe, steps=HELD_OUT, prompts_per_step=1, seed=1, first_seed=3_000_000)
    with ProcessPoolExecutor(workers) as pool:
        found = tuple(_all_judged(pool, each) for each in (recipe, apart))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps(found))


def _all_judged(pool: Executor, recipe: Recipe) -> list[Prompt]:
    prompts = prompts_of(recipe)
    # Turns of one episode together: they share its worlds.
    together = chunks(sorted(prompts, key=lambda prompt: prompt.key), 16)
    judged = [p for some in pool.map(partial(_judged, recipe), together) for p in some]
    found = {prompt.key: prompt for prompt in judged}
    return [found[prompt.key] for prompt in prompts]


def chunks(prompts: Iterable[Prompt], size: int) -> Iterator[list[Prompt]]:
    left = iter(prompts)
    while some := list(islice(left, size)):
        yield some


def _judged(recipe: Recipe, prompts: Sequence[Prompt]) -> list[Prompt]:
    return [judged_ahead(recipe, prompt) for prompt in prompts]


def read_states(file: Path) -> States:
    return States(*pickle.loads(file.read_bytes()))


def rewards_of_labels(prompt: Prompt) -> dict[str, float]:
    return {label: sum(judged.rubrics.values()) for label, judged in prompt.replies.items()}


def share_of_best(states: Sequence[Prompt], labels: Sequence[str]) -> dict[str, float]:
    """The mean reward of these replies, between that of noop (0) and of the best ones (1)."""
    got = idle = best = 0.0
    for prompt, label in zip(states, labels, strict=True):
        rewards = rewards_of_labels(prompt)
        noop = next(key for key, judged in prompt.replies.items() if judged.action == Noop())
        got, idle = got + rewards[label], idle + rewards[noop]
        best += max(rewards.values())
    return {"held_out": got / len(states), "share_of_best": (got - idle) / (best - idle)}


# One row


class Progress:
    """Lines of one row's file, each written at once."""

    def __init__(self, file: Path) -> None:
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        self._started = time.monotonic()
        self._tokens = 0

    def write(self, row: Mapping[str, Any]) -> None:
        self._tokens += row.get("prompt_tokens", 0)
        seconds = round(time.monotonic() - self._started, 1)
        with self._file.open("a", encoding="utf-8") as file:
            line = {"seconds": seconds, "tokens": round(self._tokens), **row}
            file.write(json.dumps(line) + "\n")


def run(row: str, out: Path, states: Path, minutes: float, base: Path | None, change: Any) -> None:
    end = time.monotonic() + 60 * minutes
    progress = Progress(out / f"{_file_name(row)}.jsonl")
    model = base or embedded_dense()
    known = read_states(states)
    if row == MATCH:
        policy = _match(replace(full_recipe(), **change), model, known, end, progress)
    else:
        recipe = {**rows(change), **other_rows(change)}[row]
        policy = _trained(recipe, model, out / _file_name(row), known, end, progress)
    for name, some in _judged_on(change).items():
        progress.write({"judged": name, **_figures(play_all(policy, some))})


def _file_name(row: str) -> str:
    return row.replace(",", "").replace(" ", "_")


def _trained(
    recipe: Recipe, model: Path, folder: Path, known: States, end: float, progress: Progress
) -> Policy:
    """As ``train_trl``, but stopped by a clock, and with the live model as the result."""
    from transformers import TrainerCallback

    from chaosops.training.live_model import LivePolicy
    from chaosops.training.trl_callback import RunCallback
    from chaosops.training.trl_trainer import build_trainer, save_adapter

    class Clock(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            control.should_training_stop |= time.monotonic() > end

    group = ProcessGroup()
    enter_folder(recipe, folder, resume=False, holds_run=False, group=group)
    # TRL saves a checkpoint at the end, which nobody needs.
    checkpoints = Path(tempfile.mkdtemp())
    trainer = build_trainer(recipe, model, checkpoints, known.trained, group)
    policy = LivePolicy(recipe, trainer)

    def tell(row: Mapping[str, Any]) -> None:
        kept = ("step", "prompt_tokens", "entropy", "own_reward", "noop", "unreadable", "spread")
        seen = {name: row[name] for name in (*kept, "gradient")}
        progress.write(seen | _look(row["step"], known, policy.choose))

    trainer.add_callback(RunCallback(recipe, folder, tell, known.trained, None))
    trainer.add_callback(Clock())
    trainer.train()
    shutil.rmtree(checkpoints, ignore_errors=True)
    if recipe.name == "all":
        save_adapter(recipe, trainer, folder / "adapter")
    return policy


def _match(full: Recipe, model: Path, known: States, end: float, progress: Progress) -> Policy:
    """The objective ``match`` on the same prompts, as many an update."""
    import torch

    from chaosops.training.credited_turns import CreditedTurn
    from chaosops.training.learner import Learner, column_of
    from chaosops.training.learner_policy import LearnerPolicy
    from chaosops.training.objectives import batch_loss, returns_table

    recipe = replace(
        load_recipe(find_recipe("reading_first")),
        compile=False,
        reading=0.0,
        lora_rank=full.lora_rank,
        lora_alpha=full.lora_alpha,
        seed=full.seed,
    )
    learner = Learner(model, recipe)

    def choose(chats: Sequence[Any], offered: Sequence[Sequence[str]]) -> list[str]:
        table = learner.probabilities(learner.encode(chats), offered)
        return [
            max(labels, key=lambda label: odds[column_of(label)])
            for odds, labels in zip(table, offered, strict=True)
        ]

    for step, batch in enumerate(chunks(known.trained, full.prompts_per_step)):
        prompts = learner.encode([prompt.chat for prompt in batch])
        turns = [
            CreditedTurn((), rewards_of_labels(p), p.role, "", p.tier, prompt=ids)
            for p, ids in zip(batch, prompts, strict=True)
        ]
        returns = returns_table(torch, turns, recipe.idle_bonus, learner.device)
        found = batch_loss(torch, learner.logits(prompts, returns.shape[1]), returns, recipe)
        warm, down = (step + 1) / full.warmup_steps, 1.5 * (1 - step / full.steps)
        learner.update(found.loss, recipe.learning_rate * min(1.0, warm, down), ProcessGroup())
        row = {
            "step": step + 1,
            "prompt_tokens": sum(map(len, prompts)),
            "entropy": float(found.entropy),
        }
        progress.write(row | _look(step + 1, known, choose))
        if step + 1 == full.steps or time.monotonic() > end:
            break
    return LearnerPolicy(learner)


def _look(step: int, known: States, choose: Callable[..., list[str]]) -> dict[str, float]:
    if step % LOOK_EVERY:
        return {}
    offered = [list(prompt.replies) for prompt in known.held_out]
    return share_of_best(known.held_out, choose([p.chat for p in known.held_out], offered))


def _judged_on(change: Mapping[str, Any]) -> dict[str, list[Any]]:
    recipe = replace(full_recipe(), **change)
    found = {f"classic {tier}": scenarios("published", tiers=[tier]) for tier in Tier}
    for tier, seeds in ARENA_SEEDS.items():
        found[f"arena {tier}"] = scenarios(
            pack=recipe.pack, split="train", tiers=[tier], seeds=seeds, seed_start=FIRST_SEED
        )
    return found


def _figures(episodes: Sequence[Episode]) -> dict[str, Any]:
    verbs = [turn.decision.action.verb for episode in episodes for turn in episode.turns]
    caught = [e.rogue_caught for e in episodes if e.rogue_caught is not None]
    return {
        "reward": mean([episode.reward for episode in episodes]),
        "solved": mean([float(episode.resolved) for episode in episodes]),
        "caught": mean([float(each) for each in caught]),
        "noop": verbs.count("noop") / len(verbs),
        "unreadable": verbs.count("unreadable") / len(verbs),
    }


# Every row


def run_all(out: Path, names: Sequence[str], at_once: int, rest: Sequence[str]) -> None:
    def one(row: str) -> None:
        command = [sys.executable, __file__, "run", row, str(out), *rest]
        with (out / f"{_file_name(row)}.log").open("w", encoding="utf-8") as file:
            done = subprocess.run(command, stdout=file, stderr=file)
        print(f"{row}: exit {done.returncode}", flush=True)

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, names))


def _changes(pairs: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE, the value as JSON."""
    return {name: json.loads(value) for name, _, value in (pair.partition("=") for pair in pairs)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_subparsers(dest="what", required=True)
    what.add_parser("list")
    what.add_parser("table").add_argument("out", type=Path)
    states, single, every = (what.add_parser(name) for name in ("states", "run", "all"))
    states.add_argument("states", type=Path)
    single.add_argument("row")
    every.add_argument("--at-once", type=int, default=7)
    every.add_argument("--only", nargs="*", default=[MATCH, *rows()])
    for sub in (states, every):
        sub.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    for sub in (single, every):
        sub.add_argument("out", type=Path)
        sub.add_argument("--states", type=Path, help="made if it is not there")
        sub.add_argument("--minutes", type=float, default=3.0)
        sub.add_argument("--base", type=Path)
    for sub in (states, single, every):
        sub.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    args = parser.parse_args()
    install()
    change = _changes(getattr(args, "set", []))
    if args.what == "list":
        print("\n".join([MATCH, *rows(), *other_rows()]))
    elif args.what == "table":
        print(table(args.out))
    elif args.what == "states":
        make_states(args.states, replace(full_recipe(), **change), args.workers)
    elif args.what == "run":
        run(args.row, args.out, args.states, args.minutes, args.base, change)
    else:
        args.out.mkdir(parents=True, exist_ok=True)
        file = args.states or args.out / "states.pickle"
        if not file.exists():
            make_states(file, replace(full_recipe(), **change), args.workers)
        rest = ["--minutes", str(args.minutes), "--states", str(file)]
        rest += ["--base", str(args.base)] if args.base else []
        rest += [part for each in args.set for part in ("--set", each)]
        run_all(args.out, args.only, args.at_once, rest)
        print(table(args.out))


if __name__ == "__main__":
    main()
