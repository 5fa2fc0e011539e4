"""Called by TRL's trainer: metrics, guard rails and validation of a run."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.training.live_model import LivePolicy
from chaosops.training.recipe import Recipe
from chaosops.training.run_folder import METRICS
from chaosops.training.single_turns import Prompt, probes_of
from chaosops.training.supervision import Supervisor, check_step
from chaosops.training.tracking import Tell
from chaosops.training.trl_grpo import PROMPT_TOKENS
from chaosops.training.trl_rewards import NOOP, OWN, READABLE, ROLE, RUBRICS

_PROBES = 16


class TrlSupervisor(Supervisor):
    def __init__(self, recipe: Recipe, policy: LivePolicy, folder: Path) -> None:
        super().__init__(recipe, policy, folder)
        self._model = policy
        self._probes = probes_of(recipe, _PROBES)

    def _nats_from_start(self) -> float:
        return self._model.nats_from_start(self._probes)


@dataclass(eq=False)
class RunCallback(TrainerCallback):  # type: ignore[misc]
    """The main process writes metrics and validates ``policy``; every process checks its
    gradients."""

    recipe: Recipe
    folder: Path
    tell: Tell
    prompts: Sequence[Prompt]
    policy: LivePolicy | None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._started, self._tokens = time.monotonic(), 0.0
        self._drawn: dict[str, Any] = {}
        if self.policy:
            self._supervisor = TrlSupervisor(self.recipe, self.policy, self.folder)

    def on_pre_optimizer_step(
        self, args: Any, state: Any, control: Any, *, model: Any, **_: Any
    ) -> None:
        grads = [param.grad for param in model.parameters() if param.grad is not None]
        # One look at the result: a GPU is waited for once.
        if not all(torch.stack([grad.isfinite().all() for grad in grads]).tolist()):
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
        done = step / state.max_steps
        if "reward" in logs:
            self._drawn = dict(logs)
        # An update that uses replies again has no rewards of its own.
        row = self._row(step, {**self._drawn, **logs})
        self._write(row)
        spent = time.monotonic() - self._started
        self._tokens += row["prompt_tokens"]
        speed = self._tokens / spent
        warnings = check_step(self.recipe, row)
        self.tell({**row, "done": done, "tokens_per_s": speed, "warnings": warnings})
        if self.policy and (step % self.recipe.validate_every == 0 or done == 1.0):
            # Small updates may leave the likeliest replies unchanged for a while.
            found, warnings = self._supervisor.inspect(step, tolerant=done < 1.0)
            self._write(found)
            self.tell({**found, "warnings": warnings})

    def _row(self, step: int, logs: Mapping[str, Any]) -> dict[str, Any]:
        size = self.recipe.prompts_per_step
        drawn = (step - 1) // self.recipe.reuse * size
        tiers = Counter(prompt.tier.value for prompt in self.prompts[drawn:][:size])
        roles = {role.value: logs[f"rewards/{ROLE.format(role)}/mean"] for role in Role}
        readable = logs[f"rewards/{READABLE}/mean"]  # None if no reply was the model's own
        row = {
            "step": step,
            "loss": logs["loss"],
            "reward": logs["reward"],
            "rubrics": {name: logs[f"rewards/{name}/mean"] for name in RUBRICS},
            # Of the replies that the model drew itself.
            "own_reward": logs[f"rewards/{OWN}/mean"],
            "noop": logs[f"rewards/{NOOP}/mean"],
            "reply_reward": {role: mean for role, mean in roles.items() if mean is not None},
            # The share of prompts whose replies had different rewards.
            "spread": 1.0 - logs["frac_reward_zero_std"],
            "unreadable": None if readable is None else 1.0 - readable,
            "cut_off": logs["completions/clipped_ratio"],
            "reply_tokens": logs["completions/mean_length"],
            "entropy": logs["entropy"],
            "gradient": logs["grad_norm"],
            "learning_rate": logs["learning_rate"],
            "states": size,
            "prompt_tokens": logs[PROMPT_TOKENS],
            "tiers": dict(sorted(tiers.items())),
        }
        return row | {name: logs[name] for name in ("kl", "entropy_coef") if name in logs}

    def _write(self, row: Mapping[str, Any]) -> None:
        with (self.folder / METRICS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
