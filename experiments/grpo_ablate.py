"""Ablations of GRPO with TRL from the untrained base: each remedy alone, and all but one.

    python experiments/grpo_ablate.py list
    python experiments/grpo_ablate.py run VARIANT OUT --minutes 4      # trains and judges one
    python experiments/grpo_ablate.py all OUT --minutes 4 --at-once 4  # every variant
    python experiments/grpo_ablate.py table OUT

A run ends after its updates or its minutes, whichever comes first. It is judged by playing,
greedy and unconstrained, on the classic matrix and on easy validation companies of the arena,
which are never trained on. ``match`` is the same number of updates of method menu, which sees
each prompt once where TRL sees it ``group_size`` times. Where pyarrow is missing,
no_arrow.py stands in for it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from no_arrow import install_if_missing

from chaosops.core.episode import Episode
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.statistics import mean
from chaosops.policies.llm.weights import embedded_dense
from chaosops.policies.protocol import Policy
from chaosops.training.process_group import ProcessGroup
from chaosops.training.recipe import Recipe
from chaosops.training.recipe_files import find_recipe, load_recipe
from chaosops.training.run_folder import METRICS, enter_folder
from chaosops.training.single_turns import prompts_of
from chaosops.training.validation import FIRST_SEED, play_all

SEEDS = 60
ENTROPY_AT = 100
COMMON: dict[str, Any] = {"steps": 150, "validate_every": 0, "checkpoint_every": 1_000}
PARTS: dict[str, tuple[str, ...]] = {
    "virtual best": ("virtual_best", "virtual_gamma"),
    "floor": ("floor", "floor_steps"),
    "kept groups": ("keep_groups",),
    "bound on bad": ("bound_bad",),
    "entropy target": ("entropy_target", "entropy_step"),
    "idle reward": ("idle_reward",),
}
# The ratio is 1 for replies that are used once and drawn without a floor.
TWICE: dict[str, Any] = {"reuse": 2}
OTHERS: dict[str, dict[str, Any]] = {
    "all, best replies shaped": {"virtual_gamma": 0.1},
    "all, high clipping instead of the bound": {"bound_bad": 0.0, "clip_high": 0.5},
    "all, bound on bad 1": {"bound_bad": 1.0},
    "all, idle reward -10": {"idle_reward": -10.0},
    "all, idle reward +4": {"idle_reward": 4.0},
}
MATCH = "match"


def full_recipe() -> Recipe:
    return replace(load_recipe(find_recipe("trl_remedied")), **COMMON)


def _plain(names: Sequence[str], full: Recipe) -> Recipe:
    """Without the values of these parts."""
    fields = Recipe.__dataclass_fields__
    off: dict[str, Any] = {field: fields[field].default for name in names for field in PARTS[name]}
    return replace(full, **off)


def variants() -> dict[str, Recipe]:
    full = full_recipe()
    found = {"none": _plain(list(PARTS), full), "all": full}
    used = [name for name in PARTS if _plain([name], full) != full]
    for name in used:
        found[f"{name} alone"] = _plain([other for other in PARTS if other != name], full)
        found[f"all but {name}"] = _plain([name], full)
    found["none, replies used twice"] = replace(found["none"], **TWICE)
    found["high clipping alone, used twice"] = replace(found["none"], clip_high=0.5, **TWICE)
    found["idle reward -10 alone"] = replace(found["none"], idle_reward=-10.0)
    found |= {name: replace(full, **values) for name, values in OTHERS.items()}
    return {name: replace(recipe, name=name) for name, recipe in found.items()}


def run(
    variant: str, out: Path, minutes: float, base: Path | None, change: Mapping[str, Any]
) -> None:
    model = base or embedded_dense()
    folder = out / variant.replace(" ", "_").replace(",", "")
    began = time.monotonic()
    if variant == MATCH:
        policy, seconds = _match(model, folder, change), time.monotonic() - began
    else:
        policy = _trained(replace(variants()[variant], **change), model, folder, minutes)
        seconds = time.monotonic() - began
    found = {"variant": variant, "seconds": round(seconds), **judge(policy)}
    (folder / "judged.json").write_text(json.dumps(found) + "\n", encoding="utf-8")


def _trained(recipe: Recipe, model: Path, folder: Path, minutes: float) -> Policy:
    """As ``train_trl``, but stopped by a clock, and with the live model as the result."""
    from transformers import TrainerCallback

    from chaosops.training.live_model import LivePolicy
    from chaosops.training.trl_callback import RunCallback
    from chaosops.training.trl_trainer import build_trainer

    class Clock(TrainerCallback):  # type: ignore[misc]
        end = time.monotonic() + 60 * minutes

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            control.should_training_stop |= time.monotonic() > self.end

    group = ProcessGroup()
    enter_folder(recipe, folder, resume=False, holds_run=False, group=group)
    prompts = prompts_of(recipe)
    trainer = build_trainer(recipe, model, folder / "checkpoints", prompts, group)
    trainer.add_callback(RunCallback(recipe, folder, lambda row: None, prompts, None))
    trainer.add_callback(Clock())
    trainer.train()
    return LivePolicy(recipe, trainer)


def _match(model: Path, folder: Path, change: Mapping[str, Any]) -> Policy:
    from chaosops.training.learner import Learner
    from chaosops.training.learner_policy import LearnerPolicy
    from chaosops.training.run import train

    full = replace(full_recipe(), **change)
    shared = ("steps", "validate_every", "checkpoint_every", "classic_share", "pack", "seed")
    recipe = replace(
        load_recipe(find_recipe("menu_first")),
        name=MATCH,
        compile=False,
        batch_tokens=28_000,
        **{name: getattr(full, name) for name in shared},
    )
    adapter = train(recipe, model, folder, workers=3)
    return LearnerPolicy(Learner(model, replace(recipe, start=str(adapter))))


def judge(policy: Policy) -> dict[str, Any]:
    pack = full_recipe().pack
    played = {
        "classic": play_all(policy, scenarios("published")),
        "arena easy": play_all(
            policy,
            scenarios(
                pack=pack, split="train", tiers=[Tier.EASY], seeds=SEEDS, seed_start=FIRST_SEED
            ),
        ),
    }
    return {name: _figures(episodes) for name, episodes in played.items()}


def _figures(episodes: Sequence[Episode]) -> dict[str, Any]:
    verbs = [turn.decision.action.verb for episode in episodes for turn in episode.turns]
    caught = [e.rogue_caught for e in episodes if e.rogue_caught is not None]
    return {
        "reward": mean([episode.reward for episode in episodes]),
        "solved": mean([float(episode.resolved) for episode in episodes]),
        "caught": mean([float(each) for each in caught]),
        "noop": verbs.count("noop") / len(verbs),
    }


def run_all(out: Path, names: Sequence[str], at_once: int, rest: Sequence[str]) -> None:
    def one(variant: str) -> None:
        log = out / f"{variant.replace(' ', '_')}.log"
        command = [sys.executable, __file__, "run", variant, str(out), *rest]
        with log.open("w", encoding="utf-8") as file:
            done = subprocess.run(command, stdout=file, stderr=file)
        print(f"{variant}: exit {done.returncode}", flush=True)

    out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, names))


def table(out: Path) -> str:
    head = ["variant", "updates", "seconds", f"entropy at {ENTROPY_AT}", "noop, drawn"]
    head += [f"{group}: {key}" for group in ("classic", "arena easy") for key in _SHOWN]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    found = [json.loads(path.read_text(encoding="utf-8")) for path in out.glob("*/judged.json")]
    folders = {each["variant"]: each for each in found}
    for variant in [MATCH, *variants()]:
        if each := folders.get(variant):
            metrics = out / variant.replace(" ", "_").replace(",", "") / METRICS
            lines.append("| " + " | ".join(_cells(each, metrics)) + " |")
    return "\n".join(lines)


_SHOWN = {"reward": "{:+.0f}", "solved": "{:.0%}", "caught": "{:.0%}", "noop": "{:.0%}"}


def _cells(found: Mapping[str, Any], metrics: Path) -> list[str]:
    rows = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if "loss" in row]
    entropy = [row["entropy"] for row in rows[:ENTROPY_AT]][-1]
    drawn = [row["noop"] for row in rows[-10:] if row.get("noop") is not None]
    cells = [found["variant"], str(len(rows)), str(found["seconds"]), f"{entropy:.2f}"]
    cells.append(f"{mean(drawn):.0%}" if drawn else "")
    for group in ("classic", "arena easy"):
        for key, form in _SHOWN.items():
            value = found[group][key]
            cells.append("n/a" if value is None else form.format(value))
    return cells


def _changes(pairs: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE, the value as JSON."""
    return {name: json.loads(value) for name, _, value in (pair.partition("=") for pair in pairs)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_subparsers(dest="what", required=True)
    what.add_parser("list")
    single, every = what.add_parser("run"), what.add_parser("all")
    single.add_argument("variant", choices=[MATCH, *variants()])
    every.add_argument("--at-once", type=int, default=4)
    every.add_argument("--only", nargs="*", default=[MATCH, *variants()])
    for sub in (single, every, what.add_parser("table")):
        sub.add_argument("out", type=Path)
    for sub in (single, every):
        sub.add_argument("--minutes", type=float, default=4.0)
        sub.add_argument("--base", type=Path)
        sub.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    args = parser.parse_args()
    install_if_missing()
    if args.what == "list":
        print("\n".join([MATCH, *variants()]))
    elif args.what == "run":
        run(args.variant, args.out, args.minutes, args.base, _changes(args.set))
    elif args.what == "all":
        rest = ["--minutes", str(args.minutes), *(["--base", str(args.base)] if args.base else [])]
        rest += [part for each in args.set for part in ("--set", each)]
        run_all(args.out, args.only, args.at_once, rest)
        print(table(args.out))
    else:
        print(table(args.out))


if __name__ == "__main__":
    main()
