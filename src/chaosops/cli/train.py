"""``chaosops train``"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from chaosops.cli.catalogue import print_recipes
from chaosops.cli.output import open_console, print
from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, same_file
from chaosops.core.inputs import expanded
from chaosops.core.lock import locked
from chaosops.policies.llm.spec import require_hub_name, split_revision
from chaosops.policies.llm.weights import embedded_dense, require_local
from chaosops.report import figures
from chaosops.report.run_record import COST
from chaosops.report.training_figures import learning_curve
from chaosops.training.recipe import Recipe
from chaosops.training.recipe_files import find_recipe, load_recipe
from chaosops.training.run import train
from chaosops.training.run_folder import METRICS
from chaosops.training.tracking import require_tracking, tracked
from chaosops.training.trl_run import train_trl

_EVERY = 25  # steps between lines where there is no terminal


def execute(args: argparse.Namespace) -> int:
    overrides = dict(_setting(text) for text in args.set)
    if args.rogue_bonus_multiplier:
        overrides["rogue_bonus_multiplier"] = args.rogue_bonus_multiplier
    if args.recipe is None:
        print_recipes()
        return 0
    path = find_recipe(args.recipe)
    recipe = load_recipe(path, overrides, note=lambda line: print(line, file=sys.stderr))
    if not args.no_figures:
        figures.require_matplotlib()
    folder = args.out or Path("runs") / recipe.name
    if not args.resume and same_file(path, folder / "recipe.toml"):
        raise BadInput(f"{path} would be overwritten by its own run; choose another --out")
    base = _base(recipe)
    require_tracking(recipe)
    with _alone(folder):
        adapter = _train(args, recipe, base, folder)
    if os.environ.get("RANK", "0") != "0":
        return 0  # of several processes, the first speaks
    paths = [adapter, folder / METRICS]
    if not args.no_figures:
        paths.append(learning_curve(folder / METRICS, folder / "learning_curve.png"))
    print("written: " + ", ".join(str(path) for path in paths))
    style = recipe.reply_format if recipe.method == "trl" else "menu"
    print(f"play it: chaosops run --policy {recipe.base}+adapter={adapter}+format={style}")
    return 0


def _train(args: argparse.Namespace, recipe: Recipe, base: Path, folder: Path) -> Path:
    workers = args.workers or max(1, (os.cpu_count() or 2) - 1)
    with _Watch(recipe) as watch, tracked(recipe, watch.tell) as tell, _noted_cost(folder, watch):
        if recipe.method == "trl":
            return train_trl(recipe, base, folder, resume=args.resume, tell=tell)
        return train(recipe, base, folder, resume=args.resume, workers=workers, tell=tell)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Of several processes of one run, the first holds its folder."""
    if os.environ.get("RANK", "0") != "0":
        yield
        return
    with locked(open_folder(folder)):
        yield


@contextmanager
def _noted_cost(folder: Path, watch: _Watch) -> Iterator[None]:
    """A row for each time the run was at work; one that is killed leaves none, and one that
    was refused before its first update cost nothing."""
    began = time.monotonic()
    try:
        yield
    finally:
        if watch.was_told:
            row = {"seconds": round(time.monotonic() - began), "machine": _machine()}
            with (folder / COST).open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def _machine() -> str:
    import torch

    if torch.cuda.is_available():
        return f"{int(os.environ.get('WORLD_SIZE', '1'))} x {torch.cuda.get_device_name()}"
    return f"CPU, {os.cpu_count()} cores"


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise BadInput(f"--set {text!r}: write NAME=VALUE")
    return name.strip().replace("-", "_"), value.strip()


def _base(recipe: Recipe) -> Path:
    kind, _, name = recipe.base.partition(":")
    if kind == "local":
        require_local(name)
        return embedded_dense()
    if kind == "hf":
        require_hub_name(name)
        return Path("@".join(filter(None, split_revision(name))))
    folder = expanded(recipe.base)
    if not (folder / "config.json").is_file():
        raise BadInput(
            f"base = {recipe.base!r} is no model: {folder / 'config.json'} does not exist; name a "
            "folder of a transformers model, hf:OWNER/NAME or local:smollm2"
        )
    return folder


class _Watch:
    """A bar on a terminal, a line now and then elsewhere; validation and warnings always."""

    def __init__(self, recipe: Recipe) -> None:
        self._console = open_console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}", markup=False),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task(recipe.name, total=1.0, figures="")
        self._started = time.monotonic()
        self._first: float | None = None  # how far a resumed run was when it was taken up
        self._warned: set[str] = set()
        self.was_told = False

    def __enter__(self) -> _Watch:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def tell(self, row: dict[str, Any]) -> None:
        self.was_told = True
        step = row["step"]
        for warning in row["warnings"]:
            kind = warning.split()[0]
            if kind not in self._warned:
                self._warned.add(kind)
                self._say(f"step {step}: WARNING {warning}")
        if "validation" in row:
            self._say(f"step {step}: {row['kl_from_start']:.2f} nats from the start")
            for tier, found in row["validation"].items():
                self._say(f"step {step} {_validation_words(tier, found)}")
            return
        text = f"{row['tokens_per_s']:,.0f} tok/s, entropy {row['entropy']:.2f}, {_points(row)}"
        self._bar.update(self._task, completed=row["done"], figures=f"step {step}: {text}")
        if self._bar.disable and step % _EVERY == 0:
            self._say(f"step {step}: {text}{self._end(row['done'])}")

    def _end(self, done: float) -> str:
        if self._first is None:
            self._first = done
            return ""
        spent = time.monotonic() - self._started
        left = spent * (1 - done) / max(done - self._first, 1e-9)
        return f", ends in {left / 60:.1f} min"

    def _say(self, line: str) -> None:
        if self._bar.disable:
            print(line, file=sys.stderr, flush=True)
        else:
            self._console.print(line, highlight=False, markup=False)


def _points(row: dict[str, Any]) -> str:
    """What likeliest actions lose, or what drawn replies were worth."""
    kind = "regret" if "regret" in row else "worth"
    points = ", ".join(f"{name} {points:.1f}" for name, points in row[kind].items())
    unreadable = f", unreadable {row['unreadable']:.0%}" if "unreadable" in row else ""
    return f"{kind}: {points}{unreadable}"


def _validation_words(tier: str, found: dict[str, Any]) -> str:
    caught = "n/a" if found["rogue_caught"] is None else f"{found['rogue_caught']:.0%}"
    flags = "n/a" if found["false_flag_rate"] is None else f"{found['false_flag_rate']:.2f}"
    area = found.get("auroc_turn_3")  # the classic pack has none
    auroc = "n/a" if area is None else f"{area:.3f}"
    rubrics = ", ".join(f"{name} {points:+.0f}" for name, points in found["rubrics"].items())
    return (
        f"{tier}: reward {found['mean_reward']:+.1f} ({rubrics}), solved {found['solved']:.0%}, "
        f"rogue caught {caught}, false flags {flags}, AUROC {auroc}"
    )
