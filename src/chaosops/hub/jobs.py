"""Training on Hugging Face Jobs: one job for each recipe.

A job gets the recipe as text and runs ``jobs_grpo_train.sh``. Following and stopping it is
left to the hub's own command, ``hf jobs``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata, resources
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.errors import BadInput
from chaosops.hub.client import (
    LOGIN,
    MASK,
    HubError,
    find_token,
    open_api,
    require_hub,
    require_repo,
    require_token,
    told_in_one_line,
)
from chaosops.training.recipe import Recipe
from chaosops.version import VERSION

WORK = "Hugging Face Jobs"
_SCRIPT = "jobs_grpo_train.sh"
_TIME = re.compile(r"\d+(\.\d+)?[smhd]?")
_SET_BY_LAUNCH = {
    "CHAOSOPS_SOURCE",
    "GRPO_OUT",
    "GRPO_PUSH_TO_HUB",
    "GRPO_RECIPE_TEXT",
    "HUB_REPO_ID",
}


class JobPlan(NamedTuple):
    """A job before it is started. ``arguments`` are those of ``HfApi.run_job``."""

    name: str
    repo: str
    arguments: dict[str, Any]

    def shown(self) -> dict[str, Any]:
        """The arguments with secrets masked."""
        return {**self.arguments, "secrets": dict.fromkeys(self.arguments["secrets"], MASK)}


def plan_jobs(
    recipes: Sequence[Recipe],
    *,
    image: str,
    flavor: str,
    timeout: str,
    source: str = "",
    repo_prefix: str = "",
    env: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
) -> list[JobPlan]:
    """Check everything that can be checked before a job is started."""
    if not _TIME.fullmatch(timeout):
        raise BadInput(f"--timeout {timeout!r}: write a time such as 90m or 2h")
    if repo_prefix:
        require_repo(repo_prefix, "--repo-prefix")
    given = dict(env or {})
    if taken := sorted(_SET_BY_LAUNCH & given.keys()):
        raise BadInput(f"--env {taken[0]}: the launch sets it itself; leave it out")
    names = [recipe.name for recipe in recipes]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadInput(f"two recipes are called {twice[0]!r}; give one another file or name")
    given["CHAOSOPS_SOURCE"] = source_of_job(source)
    plans = []
    for recipe in recipes:
        _require_portable(recipe, given)
        repo = f"{repo_prefix}-{recipe.name}" if repo_prefix else ""
        arguments = {
            "name": re.sub(r"[^a-zA-Z0-9_-]", "-", f"chaosops-{recipe.name}"),
            "image": image,
            "flavor": flavor,
            "timeout": timeout,
            "command": ["bash", "-c", script()],
            "env": given | _variables(recipe, repo),
            "secrets": dict(secrets or {}),
        }
        plans.append(JobPlan(recipe.name, repo, arguments))
    return plans


def _variables(recipe: Recipe, repo: str) -> dict[str, str]:
    env = {"GRPO_OUT": f"runs/{recipe.name}", "GRPO_RECIPE_TEXT": recipe.to_toml()}
    if repo:
        env |= {"GRPO_PUSH_TO_HUB": "1", "HUB_REPO_ID": require_repo(repo, "the repository")}
    return env


def _require_portable(recipe: Recipe, env: Mapping[str, str]) -> None:
    """A job sees the recipe and nothing else of this machine."""
    if not recipe.base.startswith(("local:", "hf:")):
        raise BadInput(
            f"recipe {recipe.name}: a job cannot see {recipe.base}; base must be local:smollm2 "
            "or hf:OWNER/NAME"
        )
    if recipe.start and not env.get("GRPO_START"):
        raise BadInput(
            f"recipe {recipe.name} starts from {recipe.start}, which a job cannot see; publish "
            "that adapter and name it: --env GRPO_START=OWNER/NAME"
        )


def script() -> str:
    """The script a job runs: beside this module in an installed package, or in the checkout."""
    packed = resources.files("chaosops.hub") / _SCRIPT
    if packed.is_file():
        return packed.read_text(encoding="utf-8")
    path = Path(__file__).resolve().parents[3] / "scripts" / _SCRIPT
    if not path.is_file():
        raise BadInput(f"{path} is missing; install chaosops again, or work in a checkout")
    return path.read_text(encoding="utf-8")


def source_of_job(given: str) -> str:
    """What a job installs: ``given``, or what chaosops was installed from here."""
    if given:
        if "://" not in given and not given.startswith("chaosops"):
            raise BadInput(
                f"--source {given!r}: write git+https://…, an archive's address, or "
                "chaosops==VERSION"
            )
        return given
    noted = metadata.distribution("chaosops").read_text("direct_url.json")
    if noted is None:
        return f"chaosops=={VERSION}"
    origin = json.loads(noted)
    if (vcs := origin.get("vcs_info")) and not origin["url"].startswith("file:"):
        return f"{vcs['vcs']}+{origin['url']}@{vcs['commit_id']}"
    if "archive_info" in origin and not origin["url"].startswith("file:"):
        return str(origin["url"])
    raise BadInput(
        "chaosops is installed from a folder that a job cannot see; name what the job installs: "
        "--source git+https://… or an archive's address"
    )


def launch(
    plans: Sequence[JobPlan], namespace: str, tell: Callable[[JobPlan, str], None]
) -> list[str]:
    """Start one job after the other and return their ids as NAMESPACE/ID. ``tell`` gets each
    plan and the page of its job. If a start fails, the error names the jobs that run."""
    token = require_token(WORK)
    api = open_api(WORK, token)
    if not namespace:
        with told_in_one_line("asking the hub who you are", [token]):
            namespace = api.whoami()["name"]
    started: list[str] = []
    for plan in plans:
        try:
            secrets = (token, *plan.arguments["secrets"].values())
            with told_in_one_line(f"starting {plan.name}", secrets):
                job = api.run_job(namespace=namespace, **plan.arguments)
        except HubError as error:
            raise HubError(f"{error}. {how_to_follow(started)}") from None
        started.append(f"{namespace}/{job.id}")
        tell(plan, job.url)
    return started


def how_to_follow(jobs: Sequence[str]) -> str:
    if not jobs:
        return "No job is running"
    all_of_them, first = " ".join(jobs), jobs[0]
    return (
        f"Running: {all_of_them}. Wait for them: hf jobs wait {all_of_them}; follow a log: "
        f"hf jobs logs -f {first}; stop one: hf jobs cancel {first}"
    )


def job_secrets(names: Sequence[str], *, pushes: bool, dry_run: bool) -> dict[str, str]:
    """Values of environment variables that a job gets as secrets. A job that publishes needs
    HF_TOKEN, which may also come from a login."""
    require_hub(WORK)
    found = {}
    for name in dict.fromkeys([*names, *(["HF_TOKEN"] if pushes else [])]):
        value = os.environ.get(name) or (find_token() if name == "HF_TOKEN" else None)
        if not value and not dry_run:
            cure = LOGIN if name == "HF_TOKEN" else f"set the environment variable {name}"
            raise BadInput(f"there is no {name} to pass to the jobs; {cure}")
        found[name] = value or MASK
    return found
