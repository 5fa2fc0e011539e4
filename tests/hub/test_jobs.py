"""``chaosops jobs`` against a hub on loopback."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.hub import jobs
from chaosops.training.recipe_files import load_recipe
from tests.conftest import Outcome
from tests.hub.hub_server import TOKEN, USER, HubServer

Cli = Callable[..., Outcome]
ROOT = Path(__file__).parents[2]
SOURCE = "git+https://example.org/chaosops@v1"


@pytest.fixture
def recipes(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{name}.toml" for name in ("alpha", "beta", "gamma", "delta")]
    for number, path in enumerate(paths, 1):
        path.write_text(f'steps = {number}\ncurriculum = "hard:1" # it\'s `mine` $(x)\n')
    return [str(path) for path in paths]


def launched(recipes: list[str], *more: str) -> list[str]:
    return ["jobs", "launch", *recipes, "--source", SOURCE, *more]


def test_each_recipe_becomes_a_job(cli: Cli, hub: HubServer, recipes: list[str]) -> None:
    code, out, err = cli(*launched(recipes, "--repo-prefix", "ada/overseer", "--set", "seed=7"))
    assert code == 0, err
    assert len(hub.sent("/whoami-v2")) == 1
    specs = {spec["labels"]["name"]: spec for spec in hub.jobs.values()}
    assert list(specs) == [f"chaosops-{Path(path).stem}" for path in recipes]
    beta = specs["chaosops-beta"]
    assert beta["command"][:2] == ["bash", "-c"]
    assert beta["command"][2] == (ROOT / "scripts/jobs_grpo_train.sh").read_text()
    assert (beta["flavor"], beta["timeoutSeconds"]) == ("a10g-small", 7200)
    assert beta["secrets"] == {"HF_TOKEN": TOKEN}
    env = beta["environment"]
    sent = tomllib.loads(env.pop("GRPO_RECIPE_TEXT"))
    assert (sent["name"], sent["steps"], sent["seed"]) == ("beta", 2, 7)
    assert env == {
        "CHAOSOPS_SOURCE": SOURCE,
        "GRPO_OUT": "runs/beta",
        "GRPO_PUSH_TO_HUB": "1",
        "HUB_REPO_ID": "ada/overseer-beta",
    }
    assert f"published as {hub.url}/ada/overseer-delta" in err
    ids = [f"{USER}/{job_id}" for job_id in hub.jobs]
    assert f"hf jobs wait {' '.join(ids)};" in out
    assert f"hf jobs logs -f {ids[0]};" in out
    assert f"hf jobs cancel {ids[0]}" in out
    assert TOKEN not in out + err


def test_a_dry_run_prints_the_jobs_and_sends_nothing(
    cli: Cli, hub: HubServer, recipes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = launched(recipes[:2], "--repo-prefix", "ada/x", "--secret", "WANDB", "--env", "A=b c")
    monkeypatch.setenv("WANDB", "another-secret")
    code, out, err = cli(*words, "--dry-run")
    assert code == 0, err
    assert hub.requests == []
    assert "nothing was sent" in err
    assert TOKEN not in out + err
    assert "another-secret" not in out + err
    cli(*words)
    for shown, sent in zip(json.loads(out), hub.jobs.values(), strict=True):
        assert shown["command"] == sent["command"]
        assert shown["env"] == sent["environment"]
        assert shown["secrets"] == dict.fromkeys(sent["secrets"], "***")


def test_a_dry_run_needs_no_token(
    cli: Cli, hub: HubServer, recipes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    code, out, _ = cli(*launched(recipes[:1], "--repo-prefix", "ada/x", "--dry-run"))
    assert code == 0
    assert json.loads(out)[0]["secrets"] == {"HF_TOKEN": "***"}
    assert hub.requests == []


def test_if_a_start_fails_the_running_jobs_are_named(
    cli: Cli, hub: HubServer, recipes: list[str]
) -> None:
    hub.refuse["gamma"] = 402
    code, out, err = cli(*launched(recipes))
    assert code == 2
    last = err.strip().splitlines()[-1]
    assert "starting gamma: the hub answers 402, no room for a10g-small, Bearer ***" in last
    assert "credit" in last
    assert len(hub.jobs) == 2
    assert f"hf jobs wait {' '.join(f'{USER}/{job_id}' for job_id in hub.jobs)}" in last
    assert TOKEN not in out + err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--timeout", "soon"], "write a time such as 90m or 2h"),
        (["--repo-prefix", "ada"], "write OWNER/NAME"),
        (["--env", "A"], "write NAME=VALUE"),
        (["--env", "GRPO_OUT=x"], "the launch sets it itself"),
        (["--set", "stepz=1"], "did you mean 'steps'"),
        (["--set", "base=/my/model"], "a job cannot see /my/model"),
        (["--set", "start=runs/a/adapter"], "--env GRPO_START=OWNER/NAME"),
        (["--secret", "NOT_THERE"], "set the environment variable NOT_THERE"),
        (["--source", "somewhere"], "write git+https://"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_are_told_before_anything_is_started(
    cli: Cli, hub: HubServer, recipes: list[str], words: list[str], said: str
) -> None:
    assert said in cli(*launched(recipes[:1], *words)).refusal
    assert hub.requests == []


def test_a_missing_recipe_is_named(cli: Cli, hub: HubServer, recipes: list[str]) -> None:
    assert "cannot read recipe missing.toml" in cli(*launched([recipes[0], "missing.toml"])).refusal
    assert hub.requests == []


def test_two_recipes_of_one_name_are_refused(cli: Cli, hub: HubServer, recipes: list[str]) -> None:
    assert "two recipes are called 'alpha'" in cli(*launched([recipes[0], recipes[0]])).refusal
    assert hub.requests == []


def test_without_a_token_nothing_is_sent(
    cli: Cli, hub: HubServer, recipes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    refusal = cli(*launched(recipes[:1])).refusal
    assert "needs a token of the hub; log in with: hf auth login, or set HF_TOKEN" in refusal
    assert hub.requests == []


@pytest.mark.parametrize("words", [["--dry-run"], []])
def test_a_missing_library_comes_with_its_pip_line(
    cli: Cli, recipes: list[str], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert "[hub]'" in cli(*launched(recipes[:1], *words)).refusal


def test_a_wrong_token_is_told(
    cli: Cli, hub: HubServer, recipes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    code, _, err = cli(*launched(recipes[:1]))
    assert code == 2
    assert "the hub answers 401, Unauthorized; the token is wrong" in err
    assert "hf_wrong" not in err


def test_a_hub_that_is_away_is_told(
    cli: Cli, recipes: list[str], hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    code, _, err = cli(*launched(recipes[:1]))
    assert code == 2
    assert "check the connection to http://127.0.0.1:9" in err


def test_the_job_installs_what_is_installed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: dict[str, str | None] = {}
    monkeypatch.setattr(
        "importlib.metadata.PathDistribution.read_text", lambda self, name: noted["url"]
    )
    noted["url"] = '{"url": "https://e.org/x", "vcs_info": {"vcs": "git", "commit_id": "abc"}}'
    assert jobs.source_of_job("") == "git+https://e.org/x@abc"
    noted["url"] = '{"url": "https://e.org/x.whl", "archive_info": {}}'
    assert jobs.source_of_job("") == "https://e.org/x.whl"
    noted["url"] = None
    assert jobs.source_of_job("").startswith("chaosops==")
    noted["url"] = '{"url": "file:///home/me/chaosops", "dir_info": {"editable": true}}'
    with pytest.raises(BadInput, match="--source"):
        jobs.source_of_job("")


def test_a_recipe_arrives_as_it_was(
    hub: HubServer, cli: Cli, recipes: list[str], tmp_path: Path
) -> None:
    cli(*launched(recipes[:1], "--set", "rogue_bonus_multiplier=2.0->1.0"))
    (job,) = hub.jobs.values()
    arrived = tmp_path / "arrived.toml"
    arrived.write_text(job["environment"]["GRPO_RECIPE_TEXT"])
    wanted = load_recipe(Path(recipes[0]), {"rogue_bonus_multiplier": "2.0->1.0"})
    assert load_recipe(arrived) == wanted
