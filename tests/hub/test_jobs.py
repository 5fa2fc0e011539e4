"""``chaosops jobs`` against a hub on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.errors import BadInput
from chaosops.hub import follow, jobs
from chaosops.training.recipe import load_recipe
from tests.conftest import Outcome
from tests.hub.hub_server import TOKEN, USER, HubServer

Cli = Callable[..., Outcome]
ROOT = Path(__file__).parents[2]
SOURCE = "git+https://example.org/chaosops@v1"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "POLL_S", 0.02)


@pytest.fixture
def recipes(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{name}.toml" for name in ("alpha", "beta", "gamma", "delta")]
    for number, path in enumerate(paths, 1):
        path.write_text(f'steps = {number}\ncurriculum = "hard:1" # it\'s `mine` $(x)\n')
    return [str(path) for path in paths]


def launched(recipes: list[str], *more: str) -> list[str]:
    return ["jobs", "launch", *recipes, "--source", SOURCE, *more]


def test_four_jobs_start_side_by_side_and_are_followed_to_their_end(
    cli: Cli, hub: HubServer, recipes: list[str]
) -> None:
    hub.together = threading.Barrier(4)  # nobody is answered before all four are here
    code, out, err = cli(*launched(recipes, "--repo-prefix", "ada/overseer", "--set", "seed=7"))
    assert code == 0, err
    assert len(hub.sent("/whoami-v2")) == 1
    specs = {job.spec["labels"]["name"]: job.spec for job in hub.jobs.values()}
    assert set(specs) == {f"chaosops-{Path(path).stem}" for path in recipes}
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
    assert out.count("COMPLETED") == 4
    assert f"{hub.url}/ada/overseer-delta" in out
    assert "1:01:01" in out  # the running time that the hub tells
    assert "alpha: SCHEDULING" in err
    assert "gamma: RUNNING" in err
    assert TOKEN not in out + err


def test_a_failed_job_shows_the_end_of_its_log_and_fails_the_command(
    cli: Cli, hub: HubServer, recipes: list[str]
) -> None:
    hub.outcomes["beta"] = "ERROR"
    hub.lines["beta"] = (*(f"line {n}" for n in range(50)), f"RuntimeError: out of {TOKEN}")
    code, out, err = cli(*launched(recipes[:2]))
    assert code == 1
    assert out.count("COMPLETED") == 1
    assert "beta ended as ERROR. The end of its log:" in err
    assert "  RuntimeError: out of ***" in err
    assert "  line 49" in err
    assert "  line 5\n" not in err
    assert "no --repo-prefix" in err
    assert TOKEN not in out + err


def test_a_rehearsal_sends_nothing_and_prints_what_a_launch_sends(
    cli: Cli, hub: HubServer, recipes: list[str]
) -> None:
    words = launched(recipes[:2], "--repo-prefix", "ada/x", "--secret", "WANDB", "--env", "A=b c")
    os.environ["WANDB"] = "another-secret"
    try:
        code, out, err = cli(*words, "--dry-run")
        assert code == 0, err
        assert hub.requests == []
        assert "nothing was sent" in err
        assert TOKEN not in out + err
        assert "another-secret" not in out + err
        told = read_calls(out)
        cli(*words, "--no-follow")
    finally:
        del os.environ["WANDB"]
    really = [(r.method, hub.url + r.path, masked(r.json())) for r in hub.requests]
    for call in told:
        call[1] = call[1].replace(jobs.YOU, USER)
    assert sorted(map(json.dumps, told)) == sorted(json.dumps([*call]) for call in really)
    assert len(told) == 3


def in_order(hub: HubServer) -> list[str]:
    """Ids by the recipe's name: jobs that start side by side arrive in any order."""
    return sorted(hub.jobs, key=lambda job: hub.jobs[job].spec["labels"]["name"])


def read_calls(text: str) -> list[list[Any]]:
    """What a dry run printed, as (method, URL, body)."""
    calls: list[list[Any]] = []
    for part in text.strip().split("\n\n"):
        head, authorization, *body = part.split("\n", 2)
        assert authorization == "Authorization: Bearer ***"
        calls.append([*head.split(" "), json.loads(body[0]) if body else None])
    return calls


def masked(body: Any) -> Any:
    if body and "secrets" in body:
        body["secrets"] = dict.fromkeys(body["secrets"], "***")
    return body


def test_a_rehearsal_needs_no_token(
    cli: Cli, hub: HubServer, recipes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    words = launched(recipes[:1], "--repo-prefix", "ada/x", "--namespace", "team", "--dry-run")
    code, out, err = cli(*words)
    assert code == 0
    assert "/api/jobs/team" in out
    assert "there is no token yet" in err
    assert hub.requests == []


def test_if_one_start_fails_the_others_are_named(
    cli: Cli, hub: HubServer, recipes: list[str]
) -> None:
    hub.refuse["gamma"] = 402
    code, out, err = cli(*launched(recipes))
    assert code == 2
    last = err.strip().splitlines()[-1]
    assert "starting gamma: the hub answers 402, no room for a10g-small, Bearer ***" in last
    assert "credit" in last
    running = [f"{USER}/{job_id}" for job_id in hub.jobs]
    assert len(running) == 3
    assert all(job in last for job in running)
    assert "chaosops jobs follow" in last
    assert "chaosops jobs cancel" in last
    assert TOKEN not in out + err


def test_an_outage_is_waited_for(cli: Cli, hub: HubServer, recipes: list[str]) -> None:
    hub.out_of_order = 3
    code, out, err = cli(*launched(recipes[:1]))
    assert code == 0
    assert "no answer from the hub" in err
    assert "COMPLETED" in out


def test_an_outage_without_end_says_how_to_come_back(
    cli: Cli, hub: HubServer, recipes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "PATIENCE_S", 0.1)
    hub.out_of_order = 10**6
    code, _, err = cli(*launched(recipes[:1]))
    assert code == 2
    assert "no answer from the hub for" in err
    assert f"chaosops jobs follow {USER}/" in err


def test_jobs_are_taken_up_again_and_cancelled(
    cli: Cli, hub: HubServer, recipes: list[str]
) -> None:
    hub.runs_for = 10**6
    code, out, _ = cli(*launched(recipes[:2], "--no-follow"))
    assert code == 0
    first, second = in_order(hub)
    assert f"chaosops jobs follow {USER}/{first} {USER}/{second}" in out
    code, out, _ = cli("jobs", "cancel", first, f"{USER}/{second}")
    assert code == 0
    assert out.count("cancelled: ") == 2
    code, out, err = cli("jobs", "follow", f"{USER}/{first}")
    assert code == 1
    assert "CANCELED" in out
    assert "chaosops-alpha" in err  # the name comes from the job's label


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
    code, out, err = cli(*launched(recipes[:1], *words))
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.strip().splitlines()) == 1
    assert hub.requests == []


def test_a_missing_recipe_is_named(cli: Cli, hub: HubServer, recipes: list[str]) -> None:
    code, _, err = cli(*launched([recipes[0], "missing.toml"]))
    assert code == 2
    assert "cannot read recipe missing.toml" in err
    assert hub.requests == []


def test_two_recipes_of_one_name_are_refused(cli: Cli, hub: HubServer, recipes: list[str]) -> None:
    code, _, err = cli(*launched([recipes[0], recipes[0]]))
    assert code == 2
    assert "two recipes are called 'alpha'" in err
    assert hub.requests == []


@pytest.mark.parametrize("words", [["launch"], ["follow", "abc"], ["cancel", "abc"]])
def test_without_a_token_nothing_is_sent(
    cli: Cli,
    hub: HubServer,
    recipes: list[str],
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    given = launched(recipes[:1]) if words == ["launch"] else ["jobs", *words]
    code, _, err = cli(*given)
    assert code == 2
    assert "needs a token of the hub; log in with: hf auth login, or set HF_TOKEN" in err
    assert hub.requests == []


@pytest.mark.parametrize("words", [["--dry-run"], []])
def test_a_missing_library_comes_with_its_pip_line(
    cli: Cli, recipes: list[str], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    code, out, err = cli(*launched(recipes[:1], *words))
    assert (code, out) == (2, "")
    assert "pip install 'chaosops[hub]'" in err


def test_a_wrong_token_is_told(
    cli: Cli, hub: HubServer, recipes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    code, _, err = cli(*launched(recipes[:1]))
    assert code == 2
    assert "the hub answers 401, Unauthorized; the token is wrong" in err
    assert "hf_wrong" not in err


def test_unknown_jobs_are_named(cli: Cli, hub: HubServer) -> None:
    code, _, err = cli("jobs", "follow", "ada/feedbeef")
    assert code == 2
    assert "looking at ada/feedbeef: the hub answers 404" in err
    code, _, err = cli("jobs", "cancel", "ada/feedbeef")
    assert code == 2
    assert "cancelling ada/feedbeef: the hub answers 404" in err
    code, _, err = cli("jobs", "follow", "no job at all")
    assert "write ID or OWNER/ID" in err


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
    cli(*launched(recipes[:1], "--no-follow", "--set", "rogue_bonus_multiplier=2.0->1.0"))
    (job,) = hub.jobs.values()
    arrived = tmp_path / "arrived.toml"
    arrived.write_text(job.spec["environment"]["GRPO_RECIPE_TEXT"])
    wanted = load_recipe(Path(recipes[0]), {"rogue_bonus_multiplier": "2.0->1.0"})
    assert load_recipe(arrived) == wanted


def test_a_user_who_stops_watching_leaves_the_jobs_running(
    hub: HubServer, recipes: list[str]
) -> None:
    """In a process of its own, which also shows that nothing else is sent to the hub."""
    hub.waits_for, hub.runs_for = 0, 10**6
    # A test run in the background inherits that SIGINT is ignored; a user's terminal does not.
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from chaosops.cli import main; raise SystemExit(main())"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code, *launched(recipes[:2])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={name: text for name, text in os.environ.items() if "TELEMETRY" not in name},
    )
    deadline = time.monotonic() + 60
    while len(hub.sent("/logs")) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130
    ids = " ".join(f"{USER}/{job}" for job in in_order(hub))
    assert f"chaosops jobs follow {ids}" in err
    assert f"chaosops jobs cancel {ids}" in err
    assert not hub.sent("/cancel")
    assert {request.path.split("/")[2] for request in hub.requests} == {"whoami-v2", "jobs"}
