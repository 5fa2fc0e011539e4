"""``chaosops train``"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from chaosops.cli.commands.list import recipe_lines
from chaosops.cli.options import Folder, NoFigures, Pairs, RayAddress, WorkerCount, recipe_settings
from chaosops.cli.output import note, print
from chaosops.cli.progress import Progress
from chaosops.core.errors import BadInput
from chaosops.core.files import open_folder, same_file
from chaosops.core.inputs import expanded
from chaosops.core.lock import locked
from chaosops.packs import DEFAULT_PACK
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
from chaosops.training.turn_making import make_turns
from chaosops.workers import Engine


def execute(
    recipe: str | None = None,
    /,
    *,
    set_: Annotated[Pairs, Parameter(name="--set")] = (),
    rogue_bonus_multiplier: Annotated[str, Parameter(metavar="M")] = "",
    out: Folder | None = None,
    resume: bool = False,
    workers: WorkerCount = None,
    ray: RayAddress = None,
    turns: Folder | None = None,
    only_turns: bool = False,
    no_figures: NoFigures = False,
) -> None:
    """
    Args:
        recipe: name of a recipe that ships, or path of a TOML file [default: none, list the names]
        set_: replace a value of the recipe; repeatable
        rogue_bonus_multiplier: factor on rewards of flags: constant (2.0) or annealed (2.0->1.0)
        out: folder of the run [default: runs/NAME]
        resume: go on from the last checkpoint
        workers: processes that play episodes [default: cores less one; with --ray, its CPUs]
        turns: folder that keeps turns for other runs; those that it holds are not made again
        only_turns: make the turns and end; needs no GPU
    """
    overrides = recipe_settings(set_)
    if rogue_bonus_multiplier:
        overrides["rogue_bonus_multiplier"] = rogue_bonus_multiplier
    if recipe is None:
        print("\n".join(recipe_lines()))
        return
    path = find_recipe(recipe)
    loaded = load_recipe(path, overrides, note=note)
    engine, turns = _engine(loaded, workers, ray), _turn_folder(loaded, turns, needed=only_turns)
    if turns and only_turns:
        _make_turns(loaded, turns, engine)
        return
    if not no_figures:
        figures.require_matplotlib()
    folder = out or Path("runs") / loaded.name
    if not resume and same_file(path, folder / "recipe.toml"):
        raise BadInput(f"{path} would be overwritten by its own run; choose another --out")
    base = _base(loaded)
    require_tracking(loaded)
    # Of several processes of one run, only the first locks the folder and prints.
    is_first = os.environ.get("RANK", "0") == "0"
    with locked(open_folder(folder)) if is_first else nullcontext():
        adapter = _train(loaded, base, folder, resume=resume, engine=engine, turns=turns)
    if is_first:
        _report(loaded, adapter, folder, figure=not no_figures)


def _report(recipe: Recipe, adapter: Path, folder: Path, *, figure: bool) -> None:
    paths = [adapter, folder / METRICS]
    if figure:
        paths.append(learning_curve(folder / METRICS, folder / "learning_curve.png"))
    print("written: " + ", ".join(str(path) for path in paths))
    style = recipe.reply_format if recipe.method == "trl" else "menu"
    pack = "" if DEFAULT_PACK in recipe.packs else f" --pack {recipe.pack}"
    print(f"play it: chaosops run --policy {recipe.base}+adapter={adapter}+format={style}{pack}")


def _make_turns(recipe: Recipe, turns: Path, engine: Engine) -> None:
    with Progress("%") as progress:
        watch = _Watch(recipe.name, progress)
        make_turns(recipe, _base(recipe), turns, engine=engine, tell=watch.tell)
    print(f"written: {turns}")
    print(f"train on them with --turns {turns} and the same values; any seed")


def _engine(recipe: Recipe, workers: int | None, ray: str | None) -> Engine:
    if ray is None:
        return Engine(workers or max(1, (os.cpu_count() or 2) - 1))
    if recipe.method == "trl":
        raise BadInput("--ray needs method = 'menu': TRL plays its own turns")
    return Engine(workers, ray)


def _turn_folder(recipe: Recipe, turns: Path | None, *, needed: bool) -> Path | None:
    if turns is None:
        if needed:
            raise BadInput("--only-turns needs --turns FOLDER, where they are kept")
        return None
    if recipe.method == "trl":
        raise BadInput("--turns needs method = 'menu': TRL plays its own turns")
    return open_folder(turns)


def _train(
    recipe: Recipe, base: Path, folder: Path, *, resume: bool, engine: Engine, turns: Path | None
) -> Path:
    with Progress("%") as progress:
        watch = _Watch(recipe.name, progress)
        with tracked(recipe, watch.tell) as tell, _noted_cost(folder, watch):
            if recipe.method == "trl":
                return train_trl(recipe, base, folder, resume=resume, tell=tell)
            return train(recipe, base, folder, resume=resume, engine=engine, turns=turns, tell=tell)


@contextmanager
def _noted_cost(folder: Path, watch: _Watch) -> Iterator[None]:
    """Write a row with the time of this part of the run. A part that was killed has no row, and
    neither has one that was refused before its first update."""
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
            f"base = {recipe.base!r} is not a model: {folder / 'config.json'} does not exist; "
            "name a folder of a transformers model, hf:OWNER/NAME or local:smollm2"
        )
    return folder


class _Watch:
    """Shows the progress of a run. Validation and warnings stay on the screen."""

    def __init__(self, name: str, progress: Progress) -> None:
        self._name = name
        self._progress = progress
        self._warned: set[str] = set()
        self.was_told = False
        progress.update(name, 0, None, "preparing")

    def tell(self, row: dict[str, Any]) -> None:
        self.was_told = True
        step, say = row["step"], self._progress.say
        for warning in row.get("warnings", ()):
            kind = warning.split()[0]
            if kind not in self._warned:
                self._warned.add(kind)
                say(f"step {step}: WARNING {warning}")
        if "validation" in row:
            say(f"step {step}: {row['kl_from_start']:.2f} nats from the start")
            for tier, found in row["validation"].items():
                say(f"step {step} {_validation_words(tier, found)}")
            return
        text = f"{row['tokens_per_s']:,.0f} tok/s"
        if "entropy" in row:
            text += f", entropy {row['entropy']:.2f}, {_points(row)}"
        self._progress.update(self._name, 100 * row["done"], 100, f"step {step}: {text}")


def _points(row: dict[str, Any]) -> str:
    """The regret of the likeliest actions or, with TRL, the mean reward of replies."""
    kind = "regret" if "regret" in row else "reply_reward"
    points = ", ".join(f"{name} {points:.1f}" for name, points in row[kind].items())
    unreadable = f", unreadable {row['unreadable']:.0%}" if "unreadable" in row else ""
    return f"{kind.replace('_', ' ')}: {points}{unreadable}"


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
