"""The model card of a trained adapter.

Every figure comes from a file of the run or of an evaluation. The card says what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chaosops.core.vocabulary import Role
from chaosops.evaluation.metrics import VALIDATED, metric
from chaosops.evaluation.monitor import MONITOR_METRICS
from chaosops.packs import DEFAULT_PACK, splits
from chaosops.report import monitor_tables, tables
from chaosops.report.evaluated import OURS, Evaluated
from chaosops.report.run_record import (
    COST,
    CURVE,
    RECIPE,
    FailedRun,
    RunRecord,
    sha256,
)
from chaosops.report.tables import aligned
from chaosops.training.recipe import read_role_shares
from chaosops.training.run_folder import METRICS
from chaosops.training.validation import FIRST_SEED
from chaosops.version import VERSION

LICENSE = "apache-2.0"
TAGS = ("openenv", "chaosops", "grpo", "lora", "ai-oversight", "incident-response")


def model_card(
    run: RunRecord,
    evaluations: Sequence[Evaluated],
    failures: Sequence[FailedRun] | None,
    repo: str | None = None,
) -> str:
    """``failures`` None: no log of experiments was named."""
    parts = [
        _front_matter(run),
        f"# {repo.partition('/')[2] if repo else run.recipe.name}",
        _purpose(run),
        _loading(run, repo or "OWNER/NAME"),
        _results(run, evaluations),
        _curve(run),
        _recipe(run),
        _data(run),
        _limits(run, evaluations),
        _failures(failures),
        _cost(run),
        _hashes(run, evaluations),
        f"Written by chaosops {VERSION} from the files of the run.",
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(run: RunRecord) -> str:
    lines = [
        f"base_model: {json.dumps(run.base_model)}",
        "library_name: peft",
        f"license: {LICENSE}",
        "language: en",
        "pipeline_tag: text-generation",
        "tags:",
        *(f"- {tag}" for tag in TAGS),
    ]
    return "\n".join(["---", *lines, "---"])


def _purpose(run: RunRecord) -> str:
    shares = read_role_shares(run.recipe.role_shares)
    roles = [role.value for role, share in shares.items() if share > 0]
    oversight = (
        " On Oversight's\nturns it says how likely each agent of the fleet is the culprit, and may "
        "accuse one."
        if Role.OVERSIGHT in roles
        else ""
    )
    return f"""## What it is, and for whom

A LoRA adapter for `{run.base_model}`, trained by reinforcement in ChaosOps AI: a simulated
company has an incident, four roles (SRE, Oversight, Developer, Manager) handle it, and sometimes
another AI agent of the fleet caused it. It learned the roles {", ".join(roles)}.{oversight}

It is for people who study the oversight of AI agents, and for those who want an opponent or
partner in this world. It has seen nothing but this world; it is not for real incidents."""


def _loading(run: RunRecord, repo: str) -> str:
    reply = {
        "menu": "The model replies with one letter of the menu in its prompt.",
        "json": "The model replies with one JSON action.",
    }[run.reply_format]
    return f"""## How to load it

With chaosops, which makes the prompts and reads the replies:

```console
$ hf download {repo} --local-dir adapter
$ chaosops run --policy {run.policy("adapter")} --pack {splits()[run.recipe.split]} --prompts
```

With PEFT alone:

```python
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained({json.dumps(run.base_model)})
base = AutoModelForCausalLM.from_pretrained({json.dumps(run.base_model)})
model = PeftModel.from_pretrained(base, {json.dumps(repo)})
```

{reply} `chaosops run --prompts` shows the prompts. It was trained on no others."""


def _results(run: RunRecord, evaluations: Sequence[Evaluated]) -> str:
    if not evaluations:
        return (
            "## Results\n\n**Not evaluated.** No results of this adapter were at hand when this "
            "card was written."
        )
    return "\n\n".join(["## Results", *(_evaluation(found) for found in evaluations)])


def _evaluation(found: Evaluated) -> str:
    manifest = found.manifest
    packs = ", ".join(
        f"{name} {pack['version']} ({pack['hash']})" for name, pack in manifest["packs"].items()
    )
    splits = ", ".join(manifest.get("splits") or []) or "no split"
    parts = [
        f"### {found.name}",
        f"```console\n$ {manifest['command']}\n```",
        f"Pack {packs}, {splits}; chaosops {manifest['version']}, commit "
        f"{manifest['commit'] or 'unknown'}; {manifest['episodes_per_policy']} episodes a policy. "
        f"{_head(manifest)}"
        "Intervals: 95 % of the mean over episodes; n/a with fewer than 10 or without spread.",
        tables.markdown_table(found.labelled(found.summary)),
    ]
    if found.monitor:
        parts.append(f"As an overseer (value and 95 % interval). {monitor_tables.AT}")
        parts.append(tables.metric_table(found.labelled(found.monitor), MONITOR_METRICS))
    return "\n\n".join(parts)


def _head(manifest: Mapping[str, Any]) -> str:
    """Other episodes, or another manifest, give another head."""
    head = manifest.get("chain", {}).get("head")
    return f"`chaosops verify` shows the head `{head}`. " if head else ""


def _curve(run: RunRecord) -> str:
    parts = ["## Learning curve"]
    parts.append(f"![learning curve]({CURVE})" if run.has_curve else "Not drawn.")
    if not run.validations:
        return "\n\n".join([*parts, "The run was not validated."])
    last = run.validations[-1]
    metrics = [metric(key) for key in VALIDATED]
    rows = [
        [tier, *(each.text(found) for each in metrics)]
        for tier, found in last["validation"].items()
    ]
    headers = ["tier", *(each.title for each in metrics)]
    parts.append(
        f"The last validation, after {last['step']} updates, {run.recipe.validation_seeds} seeds "
        "a tier. It served to watch the run; it is no result."
    )
    return "\n\n".join([*parts, aligned(headers, rows, words=1)])


def _recipe(run: RunRecord) -> str:
    unused = {field.name for field in run.recipe.unused}
    values = [line.partition(" = ") for line in run.recipe.to_toml().splitlines()]
    rows = [[f"`{name}`", f"`{value}`"] for name, _, value in values if name not in unused]
    again = f"[{RECIPE}]({RECIPE}); train it again with `chaosops train {RECIPE}`."
    return "\n\n".join(["## Recipe", again, aligned(("name", "value"), rows)])


def _data(run: RunRecord) -> str:
    recipe = run.recipe
    unseen = ", ".join(name for name in splits() if name != recipe.split)
    lines = [
        f"- Packs: {splits()[recipe.split]}, split `{recipe.split}`, and in "
        f"{100 * recipe.classic_share:g} % of the episodes {DEFAULT_PACK}; tiers and sizes "
        f"`{recipe.curriculum}`.",
        f"- Seeds: from {recipe.first_seed:,} upwards, one an episode. Validation: from "
        f"{FIRST_SEED:,}, never trained on.",
        f"- Never trained on: the splits {unseen}.",
        f"- {_trained_on(run)}",
    ]
    return (
        "## Data\n\nEverything is generated by the world from seeds; there is no data set.\n\n"
        + ("\n".join(lines))
    )


def _trained_on(run: RunRecord) -> str:
    made = [f"{len(run.updates):,} updates"]
    if states := sum(row.get("states", 0) for row in run.updates):
        made.append(f"{states:,} turns learned from")
    episodes = [row["episodes"] for row in run.updates if "episodes" in row]
    if episodes:
        made.append(f"of {max(episodes):,} episodes")
    elif run.recipe.episodes:
        made.append(f"of at most {run.recipe.episodes:,} episodes")
    else:
        made.append("the number of episodes was not recorded")
    return ", ".join(made) + "."


def _limits(run: RunRecord, evaluations: Sequence[Evaluated]) -> str:
    played = {split for found in evaluations for split in found.manifest.get("splits", [])}
    missing = [name for name in splits() if name not in played and name != run.recipe.split]
    lines = [
        "The world is a simulation. Nothing here says how the model would do in a real company.",
        "An accusation is an opinion of a model, not proof: see the false flags above, and "
        "let a person decide.",
        "One training run with one seed: the intervals are over episodes, not over trainings.",
        "What the base model gets wrong, or is biased towards, the adapter inherits.",
    ]
    lines += [line for found in evaluations for line in _outdone(found)]
    if missing:
        lines.append(f"Not evaluated on: {', '.join(missing)}.")
    return "## Limits\n\n" + "\n".join(f"- {line}" for line in lines)


def _outdone(found: Evaluated) -> list[str]:
    """Where a script that does not know the truth has a higher reward."""
    rewards = {(row["policy"], row["tier"]): row["mean_reward"] for row in found.summary}
    ours = {tier: value for (name, tier), value in rewards.items() if OURS in found.labels[name]}
    lines = []
    for name, status in found.manifest["policies"].items():
        if (
            status.get("kind") != "scripted"
            or status.get("sees_truth")
            or OURS in found.labels[name]
        ):
            continue
        if tiers := [tier for tier, value in ours.items() if rewards[name, tier] > value]:
            lines.append(f"Outdone by {name} in {found.name}: {', '.join(tiers)}.")
    return lines


def _failures(failures: Sequence[FailedRun] | None) -> str:
    if failures is None:
        return "## Failed runs\n\nNo log of experiments was named when this card was written."
    if not failures:
        return "## Failed runs\n\nThe log of experiments has none."
    lines = [f"- {run.section}, {run.facts}. {run.lesson}" for run in failures]
    intro = "From the log of experiments, word for word:"
    return f"## Failed runs\n\n{intro}\n\n" + "\n".join(lines)


def _cost(run: RunRecord) -> str:
    if not run.costs:
        return f"## Cost\n\nNot recorded: the run has no {COST}."
    spent: dict[str, list[float]] = {}
    for row in run.costs:
        spent.setdefault(row["machine"], []).append(row["seconds"])
    rows = [
        [machine, str(len(times)), f"{sum(times) / 60:,.1f}"] for machine, times in spent.items()
    ]
    note = "Sessions that were killed are not counted."
    return f"## Cost\n\n{aligned(('machine', 'sessions', 'minutes'), rows, words=1)}\n\n{note}"


def _hashes(run: RunRecord, evaluations: Sequence[Evaluated]) -> str:
    files: list[tuple[str, Path]] = [
        (run.weights.name, run.weights),
        (RECIPE, run.folder / RECIPE),
        (METRICS, run.folder / METRICS),
        *((f"results/{found.name}/{found.path.name}", found.path) for found in evaluations),
    ]
    rows = [[f"`{name}`", f"`{sha256(path)}`"] for name, path in files]
    return "## Hashes\n\n" + aligned(("file", "SHA-256"), rows)
