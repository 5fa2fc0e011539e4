"""Read the folder of a training run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_object, read_text
from chaosops.policies.llm.adapter import WEIGHTS
from chaosops.report.training_figures import read_metrics
from chaosops.training.recipe import Recipe
from chaosops.training.recipe_files import load_recipe
from chaosops.training.run_folder import METRICS

RECIPE = "recipe.toml"
ADAPTER_CONFIG = "adapter_config.json"
COST = "cost.jsonl"
CURVE = "learning_curve.png"


@dataclass(frozen=True)
class RunRecord:
    folder: Path
    adapter: Path
    recipe: Recipe
    config: Mapping[str, Any]  # of the adapter, as PEFT saved it
    updates: list[dict[str, Any]]
    validations: list[dict[str, Any]]
    costs: list[dict[str, Any]]

    @property
    def weights(self) -> Path:
        return self.adapter / WEIGHTS

    @property
    def base_model(self) -> str:
        return str(self.config["base_model_name_or_path"])

    @property
    def reply_format(self) -> str:
        return "menu" if self.recipe.method == "menu" else self.recipe.reply_format

    @property
    def has_curve(self) -> bool:
        return (self.folder / CURVE).is_file()

    def policy(self, adapter: str) -> str:
        """How a chaosops command names the model with this adapter."""
        return f"{self.recipe.base}+adapter={adapter}+format={self.reply_format}"


def read_run(folder: Path, adapter: Path | None = None) -> RunRecord:
    """``adapter``: where it is, if not in the folder of the run."""
    adapter = adapter or folder / "adapter"
    if not (folder / RECIPE).is_file():
        raise BadInput(
            f"{folder} holds no run: {folder / RECIPE} is missing; name a folder that "
            "chaosops train wrote"
        )
    recipe = load_recipe(folder / RECIPE)
    for name in (WEIGHTS, ADAPTER_CONFIG):
        if not (adapter / name).is_file():
            raise BadInput(
                f"{folder} holds no adapter: {adapter / name} is missing; end the run "
                f"first: chaosops train {folder / RECIPE} --out {folder} --resume"
            )
    if not (folder / METRICS).is_file():
        raise BadInput(f"{folder} holds no metrics: {folder / METRICS} is missing")
    updates, validations = read_metrics(folder / METRICS)
    config = read_object(adapter / ADAPTER_CONFIG, "adapter's configuration")
    if not isinstance(config.get("base_model_name_or_path"), str):
        raise BadInput(f"{adapter / ADAPTER_CONFIG} names no base model")
    costs = read_costs(folder)
    return RunRecord(folder, adapter, recipe, config, updates, validations, costs)


def read_costs(folder: Path) -> list[dict[str, Any]]:
    """Seconds and machine of each part of a run. Empty if they were not recorded."""
    return list(_rows(folder / COST)) if (folder / COST).is_file() else []


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(read_text(path, "costs").splitlines(), 1):
        try:
            row = json.loads(line)
            yield {"seconds": float(row["seconds"]), "machine": str(row["machine"])}
        except (ValueError, TypeError, KeyError):
            raise BadInput(f"{path}:{number} is not a row of seconds and machine") from None


class FailedRun(NamedTuple):
    """A row of the log of experiments."""

    section: str
    facts: str
    lesson: str


def failed_runs(log: Path) -> list[FailedRun]:
    """Every row of a table that says **Failed**, in the words of the log."""
    found = []
    section = ""
    headers: list[str] = []
    for line in read_text(log, "log").splitlines():
        if line.startswith("#"):
            section, headers = line.lstrip("# "), []
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not headers:
                headers = cells
            elif "**Failed**" in line:
                lesson = next(cell for cell in cells if "**Failed**" in cell)
                facts = [
                    f"{header} {cell}"
                    for header, cell in zip(headers, cells, strict=False)
                    if cell not in ("", "\N{EN DASH}", "-", lesson)
                ]
                found.append(FailedRun(section, ", ".join(facts), lesson))
        else:
            headers = []
    return found


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
