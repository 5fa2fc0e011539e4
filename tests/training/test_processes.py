"""Training in several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from chaosops.training.run_folder import METRICS
from tests.training.smoke import SMOKE
from tests.training.tiny import save_tiny_model


def test_two_processes_agree_on_their_weights(tmp_path: Path) -> None:
    """As ``accelerate launch`` and ``torchrun`` start them."""
    base = save_tiny_model(tmp_path / "tiny")
    recipe = tmp_path / "pair.toml"
    short = replace(SMOKE, steps=2)
    recipe.write_text(
        short.to_toml().replace('base = "local:smollm2"', f'base = "{base}"'), encoding="utf-8"
    )
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2"]
    script = tmp_path / "two.py"
    script.write_text(
        "import os, sys\n"
        "from pathlib import Path\n"
        "from chaosops.training.recipe_files import load_recipe\n"
        "from chaosops.training import run\n"
        "if __name__ == '__main__':\n"
        "    recipe = load_recipe(Path(sys.argv[1]))\n"
        "    keep = run.Learner\n"
        "    made = []\n"
        "    run.Learner = lambda *a: made.append(keep(*a)) or made[0]\n"
        "    run.train(recipe, Path(recipe.base), Path(sys.argv[2]))\n"
        "    made[0].save_adapter(Path(sys.argv[2]) / ('rank' + os.environ['RANK']))\n",
        encoding="utf-8",
    )
    out = tmp_path / "run"
    quiet = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*launch, str(script), str(recipe), str(out)],
        capture_output=True,
        text=True,
        timeout=180,
        env=quiet,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    file = "adapter_model.safetensors"
    first, second = (out / f"rank{rank}" / file for rank in (0, 1))
    assert first.read_bytes() == second.read_bytes()
    assert len((out / METRICS).read_text().splitlines()) == short.steps
