"""Called by TRL's trainer: metrics, guard rails and validation of a run."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.files import write_text
from chaosops.core.inputs import read_object
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.statistics import mean
from chaosops.training.guard_rails import check_divergence, check_step, check_tripwire
from chaosops.training.live_model import LiveModel, LivePolicy
from chaosops.training.recipe import Recipe, read_curriculum
from chaosops.training.run import Tell
from chaosops.training.run_folder import METRICS, START
from chaosops.training.single_turns import Prompt, probes_of
from chaosops.training.trl_rewards import READABLE, ROLE, RUBRICS
from chaosops.training.validation import (
    FIRST_SEED,
    actions_digest,
    play_all,
    scripted_digests,
    validation_rows,
    validation_scenarios,
)

_PROBES = 16
_CLASSIC_SEEDS = 5  # a failure, as in the published table


class TrlSupervisor:
    """Validates the model during training. The actions of the base are recorded in the run's
    folder, so that a resumed run is compared with the same start."""

    def __init__(self, recipe: Recipe, model: LiveModel, tokenizer: Any) -> None:
        self._recipe = recipe
        self._model = model
        self._policy = LivePolicy(recipe, tokenizer, model)
        self._scenarios = _scenarios(recipe)
        self._others = scripted_digests(self._scenarios)
        self._probes = probes_of(recipe, _PROBES)

    def begin(self, folder: Path) -> None:
        kept = folder / START
        if not kept.is_file():
            actions = actions_digest(play_all(self._policy, self._scenarios))
            write_text(kept, json.dumps({"base": actions}) + "\n")
        self._base = str(read_object(kept, "start of the run").get("base"))

    def inspect(self, step: int, last: bool) -> tuple[dict[str, Any], list[str]]:
        nats = self._model.nats_from_start(self._probes)
        warnings = check_divergence(self._recipe, nats)
        played = play_all(self._policy, self._scenarios)
        actions = actions_digest(played)
        # Small updates may leave the likeliest replies unchanged for a while.
        check_tripwire(step, actions, {**self._others, **({"base": self._base} if last else {})})
        if actions == self._base:
            warnings.append("the learner still acts like the base in every validation episode")
        rows = validation_rows(played)
        for tier, row in rows.items():
            some = [episode for episode in played if episode.scenario.tier == tier]
            row["unreadable_replies"] = mean([episode.unreadable_replies for episode in some])
        return {"step": step, "kl_from_start": nats, "validation": rows}, warnings


class RunCallback:
    """The main process writes metrics and validates; every process checks its gradients."""

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        tell: Tell,
        prompts: Sequence[Prompt],
        supervisor: TrlSupervisor | None,
    ) -> None:
        self._recipe = recipe
        self._folder = folder
        self._tell = tell
        self._prompts = prompts
        self._supervisor = supervisor

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._steps = state.max_steps
        self._started, self._tokens = time.monotonic(), state.num_input_tokens_seen
        if self._supervisor and state.is_world_process_zero:
            self._supervisor.begin(self._folder)

    def on_pre_optimizer_step(
        self, args: Any, state: Any, control: Any, *, model: Any, **_: Any
    ) -> None:
        grads = [param.grad for param in model.parameters() if param.grad is not None]
        if not all(bool(grad.isfinite().all()) for grad in grads):
            raise BadInput(
                "the gradient is not finite: lower learning_rate; the last checkpoint is kept"
            )

    def on_log(
        self, args: Any, state: Any, control: Any, *, logs: Mapping[str, Any], **_: Any
    ) -> None:
        if "loss" not in logs or not state.is_world_process_zero:
            return
        step: int = state.global_step
        if not math.isfinite(logs["loss"]):
            raise BadInput("the loss is not finite: lower learning_rate")
        row = self._row(step, logs)
        self._write(row)
        spent = time.monotonic() - self._started
        speed = (state.num_input_tokens_seen - self._tokens) / spent
        warnings = check_step(self._recipe, row)
        told = {"done": step / self._steps, "tokens_per_s": speed, "warnings": warnings}
        self._tell({**row, **told})
        every = self._recipe.validate_every
        if self._supervisor and (step % every == 0 or step == self._steps):
            found, warnings = self._supervisor.inspect(step, step == self._steps)
            self._write(found)
            self._tell({**found, "warnings": warnings})

    def _row(self, step: int, logs: Mapping[str, Any]) -> dict[str, Any]:
        size = self._recipe.prompts_per_step
        tiers = Counter(prompt.tier.value for prompt in self._prompts[(step - 1) * size :][:size])
        roles = {role.value: logs[f"rewards/{ROLE.format(role)}/mean"] for role in Role}
        row = {
            "step": step,
            "loss": logs["loss"],
            "reward": logs["reward"],
            "rubrics": {name: logs[f"rewards/{name}/mean"] for name in RUBRICS},
            "reply_reward": {role: mean for role, mean in roles.items() if mean is not None},
            # The share of prompts whose replies had different rewards.
            "spread": 1.0 - logs["frac_reward_zero_std"],
            "unreadable": 1.0 - logs[f"rewards/{READABLE}/mean"],
            "cut_off": logs["completions/clipped_ratio"],
            "reply_tokens": logs["completions/mean_length"],
            "entropy": logs["entropy"],
            "gradient": logs["grad_norm"],
            "learning_rate": logs["learning_rate"],
            "states": size,
            "tiers": dict(sorted(tiers.items())),
        }
        return row | ({"kl": logs["kl"]} if "kl" in logs else {})

    def _write(self, row: Mapping[str, Any]) -> None:
        with (self._folder / METRICS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _scenarios(recipe: Recipe) -> list[Scenario]:
    """A run on the classic pack alone is validated on classic seeds that it never trains on."""
    if recipe.classic_share < 1:
        return validation_scenarios(recipe)
    tiers = {tier for tier, _ in read_curriculum(recipe.curriculum)}
    seeds = min(recipe.validation_seeds, _CLASSIC_SEEDS)
    ordered = [tier for tier in Tier if tier in tiers]
    return scenarios("published", tiers=ordered, seeds=seeds, seed_start=FIRST_SEED)
