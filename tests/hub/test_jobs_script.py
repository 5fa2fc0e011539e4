"""The script that a job runs, with a stand-in for ``chaosops`` that notes what it is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from chaosops.cli.app import parse
from chaosops.training.recipe_files import load_recipe

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "jobs_grpo_train.sh"
STAND_IN = """#!{python}
import json, os, sys
with open(os.environ["NOTED"], "a") as noted:
    noted.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
if "train" in sys.argv and os.environ.get("FAILS"):
    sys.exit(7)
"""
EVERYTHING = {
    "GRPO_EPISODES": "400",
    "GRPO_LORA_RANK": "8",
    "GRPO_LR": "2e-5",
    "GRPO_TEMP": "3.5",
    "GRPO_CURRICULUM": "easy:1,hard:2",
    "GRPO_ROGUE_MULTIPLIER": "2.0->1.0",
}


class Ran:
    def __init__(self, folder: Path, env: dict[str, str], words: list[str]) -> None:
        tools = folder / "tools"
        tools.mkdir(exist_ok=True)
        for name in ("chaosops", "hf"):
            (tools / name).write_text(STAND_IN.format(python=sys.executable))
            (tools / name).chmod(0o755)
        noted = folder / "noted"
        noted.unlink(missing_ok=True)
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            words,
            cwd=folder,
            env={"PATH": path, "HOME": str(folder), "NOTED": str(noted), **env},
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        lines = noted.read_text().splitlines() if noted.exists() else []
        self.calls = [json.loads(line) for line in lines]

    def call(self, command: str) -> list[str]:
        (found,) = (words for words in self.calls if words[:2] == ["chaosops", command])
        return list(found[2:])


def run(folder: Path, **env: str) -> Ran:
    return Ran(folder, env, ["bash", str(SCRIPT)])


def run_inline(folder: Path, **env: str) -> Ran:
    """As a job gets it: the text, not the file."""
    return Ran(folder, env, ["bash", "-c", SCRIPT.read_text()])


def test_shellcheck_finds_nothing() -> None:
    tool = Path(sys.executable).with_name("shellcheck")
    done = subprocess.run([tool, SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_without_any_variable_the_first_recipe_is_trained(tmp_path: Path) -> None:
    ran = run(tmp_path)
    assert ran.code == 0, ran.err
    assert ran.calls[0] == ["chaosops", "weights", "--dense"]
    recipe, *rest = ran.call("train")
    assert Path(recipe).resolve() == ROOT / "src/chaosops/training/recipes/reading_first.toml"
    assert rest == ["--out", "runs/reading_first"]
    assert len(ran.calls) == 2


@pytest.mark.parametrize(
    "recipe", ["learning_rate = 1.0\n", 'method = "trl"\ncontinuation = "none"\n']
)
def test_what_it_passes_is_accepted_by_the_real_parser(tmp_path: Path, recipe: str) -> None:
    (tmp_path / "mine.toml").write_text(recipe)
    ran = run(tmp_path, GRPO_RECIPE="mine.toml", GRPO_OUT="my runs/a", **EVERYTHING)
    assert ran.code == 0, ran.err
    args = parse(["train", *ran.call("train")])[1].arguments
    assert args["out"] == Path("my runs/a")
    overrides = dict(text.split("=", 1) for text in args["set_"])
    overrides["rogue_bonus_multiplier"] = args["rogue_bonus_multiplier"]
    resolved = load_recipe(tmp_path / args["recipe"], overrides)
    assert (resolved.episodes, resolved.lora_rank, resolved.learning_rate) == (400, 8, 2e-5)
    heat = resolved.sampling_temperature if resolved.method == "trl" else resolved.temperature
    assert (heat, resolved.curriculum) == (3.5, "easy:1,hard:2")
    assert resolved.rogue_bonus_multiplier == "2.0->1.0"


def test_a_recipe_may_come_as_text(tmp_path: Path) -> None:
    text = 'name = "quoted"\nbase = "hf:a/b"\ncurriculum = "hard:1" # it\'s `odd` $(false)\n'
    ran = run_inline(tmp_path, GRPO_RECIPE_TEXT=text)
    assert ran.code == 0, ran.err
    recipe, *rest = ran.call("train")
    assert Path(recipe).read_text() == text + "\n"
    assert rest == ["--out", "runs/quoted"]
    assert len(ran.calls) == 1  # no weights to fetch: the base is not ours


def test_a_run_that_is_there_is_resumed(tmp_path: Path) -> None:
    saved = tmp_path / "runs/mine/recipe.toml"
    saved.parent.mkdir(parents=True)
    saved.write_text("")
    (tmp_path / "mine.toml").write_text("")
    assert run(tmp_path, GRPO_RECIPE="mine.toml").call("train")[-1] == "--resume"


def test_start_evaluation_and_push(tmp_path: Path) -> None:
    ran = run(
        tmp_path,
        GRPO_OUT="out",
        GRPO_START="ada/first",
        GRPO_EVAL_SEEDS="20",
        GRPO_PUSH_TO_HUB="true",
        HUB_REPO_ID="ada/second",
        HF_TOKEN="hf_x",
    )
    assert ran.code == 0, ran.err
    assert ["hf", "download", "ada/first"] in [words[:3] for words in ran.calls]
    assert "start=out-start" in ran.call("train")
    evaluated = parse(["eval", *ran.call("eval")])[1].arguments
    assert evaluated["options"].seeds == 20
    [policy, *_] = evaluated["options"].policies
    assert policy.startswith("local:smollm2+adapter=out/adapter+format=menu")
    published = parse(["publish", *ran.call("publish")])[1].arguments
    assert (published["run"], published["repo"]) == (Path("out"), "ada/second")
    assert published["results"] == (evaluated["out"],)
    assert "hf_x" not in ran.out + ran.err


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"GRPO_PUSH_TO_HUB": "1", "HF_TOKEN": "x"}, "set HUB_REPO_ID=OWNER/NAME"),
        ({"GRPO_PUSH_TO_HUB": "1", "HUB_REPO_ID": "a", "HF_TOKEN": "x"}, "write OWNER/NAME"),
        ({"GRPO_PUSH_TO_HUB": "1", "HUB_REPO_ID": "a/b"}, "a token with write access"),
        ({"GRPO_PUSH_TO_HUB": "maybe"}, "GRPO_PUSH_TO_HUB is 'maybe'; write 1 or 0"),
        ({"GRPO_RECIPE": "none.toml"}, "no recipe none.toml; set GRPO_RECIPE"),
    ],
)
def test_mistakes_are_told_before_training(tmp_path: Path, env: dict[str, str], said: str) -> None:
    ran = run(tmp_path, **env)
    assert ran.code == 2
    assert said in ran.err
    assert ran.calls == []


def test_a_failed_training_is_not_published(tmp_path: Path) -> None:
    ran = run(
        tmp_path, FAILS="1", GRPO_PUSH_TO_HUB="1", HUB_REPO_ID="a/b", HF_TOKEN="x", GRPO_OUT="out"
    )
    assert ran.code == 7
    assert [words[1] for words in ran.calls] == ["weights", "train"]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("git+https://e.org/x@v1", "chaosops[figures,hub,torch] @ git+https://e.org/x@v1"),
        ("chaosops==1.2", "chaosops[figures,hub,torch]==1.2"),
        ("", "scripts/..[figures,hub,torch]"),
    ],
)
def test_chaosops_is_installed_where_it_is_missing(
    tmp_path: Path, source: str, wanted: str
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "dirname", "sed", "head", "basename"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    for name in ("uv", "git"):
        (tools / name).write_text(f'#!{tools}/bash\necho "{name} $*"; exit 9\n')
        (tools / name).chmod(0o755)

    def run() -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(tools), "CHAOSOPS_SOURCE": source}
        words = [tools / "bash", SCRIPT]
        return subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True)

    done = run()
    assert done.returncode == 9, done.stderr
    assert done.stdout.rstrip().endswith(wanted)
    (tools / "git").unlink()
    if source.startswith("git"):
        done = run()
        assert done.returncode == 2
        assert "needs git" in done.stderr
