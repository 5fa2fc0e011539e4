"""The model card of a trained adapter: what the template ``model_card.md`` needs.

Every figure comes from a file of the run or of an evaluation. The card says what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_object
from chaosops.evaluation.metrics import VALIDATED, metric, shown
from chaosops.packs import DEFAULT_PACK, load_pack
from chaosops.policies.llm.calibration import FILE as CALIBRATION
from chaosops.policies.llm.calibration import read_calibration
from chaosops.policies.llm.thresholds import read_thresholds
from chaosops.report.evaluated import OURS, Evaluated
from chaosops.report.run_record import RECIPE, FailedRun, RunRecord, sha256
from chaosops.report.seeds import Stage, chosen_words, seeds_table
from chaosops.report.tables import aligned, markdown_table, oversight_note
from chaosops.report.templating import templates
from chaosops.training.best import kept_validation
from chaosops.training.recipe import read_role_shares
from chaosops.training.run_folder import METRICS
from chaosops.training.validation import FIRST_SEED
from chaosops.version import VERSION

Rows = list[list[str]]


@dataclass(frozen=True)
class Shipped:
    """The run behind the adapter of the package, whose card stands beside its folders."""

    place: str  # of the run's files, seen from the card
    policy: str  # the name of the adapter in commands
    stages: Sequence[Stage]  # in their order, the last one is the run
    seeds: Mapping[str, Sequence[Stage]]  # all that were trained, by their seed
    rates: str  # a table of rare false alarms, or why there is none


def model_card(
    run: RunRecord,
    evaluations: Sequence[Evaluated],
    failures: Sequence[FailedRun] | None,
    repo: str = "",
    shipped: Shipped | None = None,
) -> str:
    """``failures`` is None if no log of experiments was named."""
    environment = templates("chaosops.report", html=False)
    environment.filters["json"] = json.dumps
    pack = load_pack(run.recipe.pack)
    trainable = (pack.training_split, *pack.more_training_splits)
    unseen = [name for name in pack.splits if name not in trainable]
    played = {split for found in evaluations for split in found.manifest.get("splits", [])}
    shares = read_role_shares(run.recipe.role_shares)
    card = environment.get_template("model_card.md").render(
        run=run,
        evaluations=evaluations,
        failures=failures,
        repo=repo,
        version=VERSION,
        pack=run.recipe.pack,
        default_pack=DEFAULT_PACK,
        aligned=aligned,
        table=markdown_table,
        oversight_note=oversight_note,
        first_validation_seed=FIRST_SEED,
        roles=[role.value for role, share in shares.items() if share > 0],
        validation=_validation(run),
        recipe=_recipe(run),
        trained_on=", ".join(_trained_on(run)),
        unseen=unseen,
        not_evaluated=[name for name in unseen if name not in {*played, pack.reserve_split}],
        outdone=[line for found in evaluations for line in _outdone(found)],
        costs=_costs(shipped.stages if shipped else [run]),
        shipped=shipped,
        seeds=seeds_table(shipped.seeds) if shipped and shipped.seeds else None,
        chosen=chosen_words(shipped.seeds, shipped.stages) if shipped and shipped.seeds else "",
        thresholds=read_thresholds(run.adapter),
        hashes=_hashes(run, evaluations),
        calibration=_calibration(run.adapter),
    )
    return card + "\n"


def _validation(run: RunRecord) -> Mapping[str, Any] | None:
    """The validation of the adapter that the run kept."""
    kept = kept_validation(run.recipe, run.validations)
    if kept is None:
        return None
    metrics = [metric(key) for key in VALIDATED]
    return {
        "step": kept["step"],
        "is_last": kept is run.validations[-1],
        "headers": ["tier", *(each.title for each in metrics)],
        "rows": [
            [tier, *(each.text(found) for each in metrics)]
            for tier, found in kept["validation"].items()
        ],
    }


def _calibration(adapter: Path) -> str:
    """What corrects its suspicion, in one sentence. Empty if nothing does."""
    if read_calibration(adapter) is None:
        return ""
    found = read_object(adapter / CALIBRATION, "calibration")
    try:
        origin, splits = found["fitted_on"], ", ".join(found["fitted_on"]["splits"])
        errors = [shown(found[when]["ece_turn_3"], "{:.3f}".format) for when in ("before", "after")]
        return (
            f"Its suspicion is calibrated on {origin['episodes']} episodes of {splits}: "
            f"calibration error (ECE) {errors[0]} before, {errors[1]} after, on companies that the "
            "calibration was not fitted to."
        )
    except (KeyError, TypeError, ValueError):
        raise BadInput(
            f"{adapter / CALIBRATION} does not say what it was fitted on; make it with "
            "chaosops calibrate"
        ) from None


def _recipe(run: RunRecord) -> Rows:
    unused = {field.name for field in run.recipe.unused}
    values = [line.partition(" = ") for line in run.recipe.to_toml().splitlines()]
    return [[f"`{name}`", f"`{value}`"] for name, _, value in values if name not in unused]


def _trained_on(run: RunRecord) -> Iterator[str]:
    yield f"{len(run.updates):,} updates"
    if states := sum(row.get("states", 0) for row in run.updates):
        yield f"{states:,} turns learned from"
    episodes = [row["episodes"] for row in run.updates if "episodes" in row]
    if episodes:
        yield f"of {max(episodes):,} episodes"
    elif run.recipe.episodes:
        yield f"of at most {run.recipe.episodes:,} episodes"
    else:
        yield "the number of episodes was not recorded"


def _outdone(found: Evaluated) -> Iterator[str]:
    """The results in which a script that does not know the truth has a higher reward."""
    rewards = {(row["policy"], row["tier"]): row["mean_reward"] for row in found.summary}
    ours = {tier: value for (name, tier), value in rewards.items() if OURS in found.labels[name]}
    for name, status in found.manifest["policies"].items():
        is_script = status.get("kind") == "scripted" and not status.get("sees_truth")
        if not is_script or OURS in found.labels[name]:
            continue
        if tiers := [tier for tier, value in ours.items() if rewards[name, tier] > value]:
            yield f"Outdone by {name} in {found.name}: {', '.join(tiers)}."


def _costs(runs: Sequence[RunRecord | Stage]) -> Rows:
    spent: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        for row in run.costs:
            spent.setdefault((run.recipe.name, row["machine"]), []).append(row["seconds"])
    return [
        [stage, machine, str(len(times)), f"{sum(times) / 60:,.1f}"]
        for (stage, machine), times in spent.items()
    ]


def _hashes(run: RunRecord, evaluations: Sequence[Evaluated]) -> Rows:
    files: list[tuple[str, Path]] = [
        (run.weights.name, run.weights),
        (RECIPE, run.folder / RECIPE),
        (METRICS, run.folder / METRICS),
        *((f"results/{found.name}/{found.path.name}", found.path) for found in evaluations),
    ]
    return [[f"`{name}`", f"`{sha256(path)}`"] for name, path in files]
