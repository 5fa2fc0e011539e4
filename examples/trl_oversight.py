"""Train an overseer with TRL, in whole episodes: python examples/trl_oversight.py [MODEL] [OUT]

The model plays Oversight by calling tools; scripts play the other three roles. The chat template
of the model must support tools, as Qwen3's does. Needs a GPU and: pip install -e '.[train]'
"""

import sys
from typing import Any

from chaosops.core.errors import MissingExtra
from chaosops.integrations.trl import environment, rows

try:
    from datasets import Dataset
    from transformers.utils import is_torch_bf16_gpu_available
    from trl import GRPOConfig, GRPOTrainer
except ImportError as error:
    sys.exit(str(MissingExtra("this example", str(error.name), "train")))


def make_trainer(model: str, out: str, **settings: Any) -> GRPOTrainer:
    defaults = {
        "num_generations": 8,  # episodes of the same incident, compared with each other
        "per_device_train_batch_size": 8,
        "max_completion_length": 6_000,  # of a whole episode: calls, and what the tools answer
        "max_tool_calling_iterations": 8,
        "chat_template_kwargs": {"enable_thinking": False},
        "learning_rate": 1e-6,
        "max_steps": 200,
        "logging_steps": 1,
        "report_to": "none",
    }
    return GRPOTrainer(
        model=model,
        args=GRPOConfig(output_dir=out, **{**defaults, **settings}),
        train_dataset=Dataset.from_list(rows(range(500), tiers=["easy"])),
        environment_factory=environment("oversight", partners="heuristic"),
    )


if __name__ == "__main__":
    model, out = (*sys.argv[1:], *("Qwen/Qwen3-0.6B", "runs/trl_oversight")[len(sys.argv) - 1 :])
    if not is_torch_bf16_gpu_available():
        sys.exit("no GPU; on a CPU call make_trainer(MODEL, OUT, use_cpu=True, bf16=False).train()")
    make_trainer(model, out).train()
