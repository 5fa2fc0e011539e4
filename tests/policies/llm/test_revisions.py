"""A hub model can be pinned, and its commit is recorded. The hub's cache stands for the hub."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.policies.llm.spec import read_spec
from tests.training.tiny import save_tiny_model

COMMITS = {"main": "a" * 40, "v1": "b" * 40}
NAME = "chaosops-tests/tiny"
SHOW = """
import json, sys
from chaosops.core.errors import ChaosOpsError
from chaosops.policies.registry import load_policy
for spec in sys.argv[1:]:
    try:
        status = load_policy(spec).status()
    except ChaosOpsError as error:
        print(json.dumps(str(error)))
    else:
        print(json.dumps([status["model"], status["revision"]]))
"""


@pytest.fixture(scope="module")
def hub_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with two revisions of one model, as the hub's library leaves it."""
    home = tmp_path_factory.mktemp("hub")
    repo = home / "hub" / f"models--{NAME.replace('/', '--')}"
    tiny = save_tiny_model(home / "tiny")
    for name, commit in COMMITS.items():
        shutil.copytree(tiny, repo / "snapshots" / commit)
        (repo / "refs").mkdir(exist_ok=True)
        (repo / "refs" / name).write_text(commit)
    return home


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "1"}
    env.pop("HF_HUB_CACHE", None)
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, env=env, timeout=240
    )


def test_the_revision_is_asked_for_and_recorded_as_a_commit(hub_home: Path) -> None:
    specs = [f"hf:{NAME}", f"hf:{NAME}@v1", f"hf:{NAME}@{COMMITS['v1']}"]
    done = run(hub_home, "-c", SHOW, *specs, f"hf:{NAME}@v9")
    assert done.returncode == 0, done.stderr
    commits = [COMMITS["main"], COMMITS["v1"], COMMITS["v1"]]
    models = [spec.removeprefix("hf:") for spec in specs]
    *found, refused = [json.loads(line) for line in done.stdout.splitlines()]
    assert f"hf download {NAME} --revision v9" in refused
    assert found == [[model, commit] for model, commit in zip(models, commits, strict=True)]


def test_a_trained_adapter_names_the_commit_of_its_base(hub_home: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "short.toml"
    recipe.write_text(
        f'base = "hf:{NAME}@v1"\nsteps = 1\nwindow = 2\nbatch_tokens = 3000\n'
        'lora_rank = 2\nlora_alpha = 4\nvalidate_every = 0\ncurriculum = "easy:1"\n'
    )
    words = ["train", str(recipe), "--out", str(tmp_path / "run"), "--workers", "1", "--no-figures"]
    done = run(hub_home, "-m", "chaosops", *words)
    assert done.returncode == 0, done.stderr
    config = json.loads((tmp_path / "run/adapter/adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == NAME
    assert config["revision"] == COMMITS["v1"]
    assert f'base = "hf:{NAME}@v1"' in (tmp_path / "run/recipe.toml").read_text()


@pytest.mark.parametrize(
    "text", ["", "a/b@", "a/b/c", "../b", "a/b@x y", "a/b@v1@v2", "@v1", "a b/c"]
)
def test_what_is_no_name_of_the_hub_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_spec(f"hf:{text}")
