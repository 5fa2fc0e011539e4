"""A finished run and results of its adapter, in the files that train and eval write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.results import Results, save
from chaosops.policies.llm.adapter import adapter_identity
from chaosops.report.written import derived_files, judged
from chaosops.training.recipe import Recipe

BASE = "HuggingFaceTB/SmolLM2-135M-Instruct"
COMMAND = "chaosops eval --pack arena --split test --seeds 4"


def make_run(folder: Path, *, base: str = BASE, validated: bool = True, **values: Any) -> Path:
    from safetensors.numpy import save_file

    adapter = folder / "adapter"
    adapter.mkdir(parents=True)
    recipe = Recipe(**{"name": "small", "steps": 3, "classic_share": 0.25, **values})
    (folder / "recipe.toml").write_text(recipe.to_toml())
    save_file({"lora_A": np.ones((2, 3), np.float32)}, adapter / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "base_model_name_or_path": base}
    (adapter / "adapter_config.json").write_text(json.dumps(config))
    rows: list[dict[str, Any]] = [
        {
            "step": step,
            "regret": {"arena oversight": 9.0 / step},
            "tiers": {"hard": 100},
            "states": 100 + step,
        }
        for step in (1, 2, 3)
    ]
    tier = {
        "mean_reward": -12.34,
        "solved": 0.5,
        "rogue_caught": None,
        "false_flag_rate": 0.25,
        "wrong_fixes": 1.0,
    }
    if validated:
        rows.append({"step": 3, "kl_from_start": 0.5, "validation": {"hard": tier}})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "checkpoint.pt").write_bytes(b"\x80\x02a pickle")
    (folder / "start.json").write_text("{}")
    return folder


def make_results(folder: Path, run: Path, *, team: bool = False) -> Results:
    """A real evaluation of scripts, in which the heuristic stands for the adapter."""
    played = evaluate(
        ["heuristic", "oracle"],
        scenarios(pack="arena", split="test", seeds=4),
        command=COMMAND,
    )
    ours = {
        "kind": "model",
        "policy": "it",
        "adapter": f"adapter {adapter_identity(run / 'adapter')}",
    }
    oracle = played.manifest["policies"]["oracle"]
    rest = dict.fromkeys(("sre", "dev", "manager"), oracle)
    played.manifest["policies"]["heuristic"] = {"oversight": ours, **rest} if team else ours
    folder.mkdir(parents=True, exist_ok=True)
    save(played, folder)
    for name, text in derived_files(played, judged(played)).items():
        if name != "table.md":
            (folder / name).write_text(text)
    return played
