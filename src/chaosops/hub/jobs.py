"""Training on Hugging Face Jobs: one job for each recipe, started side by side."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import metadata, resources
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.errors import BadInput
from chaosops.hub.client import (
    LOGIN,
    MASK,
    Call,
    HubError,
    find_token,
    open_api,
    rehearse,
    require_hub,
    require_repo,
    require_token,
    told_in_one_line,
)
from chaosops.training.recipe import Recipe, load_recipe
from chaosops.version import VERSION

WORK = "Hugging Face Jobs"
YOU = "YOUR-NAME"  # in a rehearsal, for what the hub would answer
_SCRIPT = "jobs_grpo_train.sh"
_TIME = re.compile(r"\d+(\.\d+)?[smhd]?")
# What a launch sets itself.
_OURS = ("CHAOSOPS_SOURCE", "GRPO_OUT", "GRPO_PUSH_TO_HUB", "GRPO_RECIPE_TEXT", "HUB_REPO_ID")


@dataclass(frozen=True)
class Machine:
    image: str
    flavor: str
    timeout: str  # such as 90m or 2h


@dataclass(frozen=True)
class JobPlan:
    """A job before it is started."""

    name: str
    machine: Machine
    command: list[str]
    env: dict[str, str]
    secrets: dict[str, str] = field(repr=False)
    repo: str = ""

    def arguments(self) -> dict[str, Any]:
        """Of ``HfApi.run_job``."""
        return {
            "image": self.machine.image,
            "command": self.command,
            "env": self.env,
            "secrets": self.secrets,
            "flavor": self.machine.flavor,
            "timeout": self.machine.timeout,
            "name": re.sub(r"[^a-zA-Z0-9_-]", "-", f"chaosops-{self.name}"),
        }


class JobRef(NamedTuple):
    """A job that was started; written OWNER/ID."""

    owner: str
    id: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.owner}/{self.id}"


def plan_jobs(
    recipes: Sequence[Path],
    overrides: Mapping[str, str],
    *,
    machine: Machine,
    source: str = "",
    repo_prefix: str = "",
    env: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
) -> list[JobPlan]:
    """Everything that can be wrong is found here, before anything is started."""
    if not _TIME.fullmatch(machine.timeout):
        raise BadInput(f"--timeout {machine.timeout!r}: write a time such as 90m or 2h")
    if repo_prefix:
        require_repo(repo_prefix, "--repo-prefix")
    given = dict(env or {})
    if taken := [name for name in given if name in _OURS]:
        raise BadInput(f"--env {taken[0]}: the launch sets it itself; leave it out")
    loaded = [load_recipe(path, overrides) for path in recipes]
    names = [recipe.name for recipe in loaded]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadInput(f"two recipes are called {twice[0]!r}; give one another file or name")
    for recipe in loaded:
        _require_portable(recipe, given)
    shared = {"CHAOSOPS_SOURCE": source_of_job(source), **given}
    return [_plan(recipe, machine, shared, dict(secrets or {}), repo_prefix) for recipe in loaded]


def _plan(
    recipe: Recipe,
    machine: Machine,
    shared: Mapping[str, str],
    secrets: dict[str, str],
    repo_prefix: str,
) -> JobPlan:
    env = {**shared, "GRPO_OUT": f"runs/{recipe.name}", "GRPO_RECIPE_TEXT": recipe.to_toml()}
    repo = f"{repo_prefix}-{recipe.name}" if repo_prefix else ""
    if repo:
        env |= {"GRPO_PUSH_TO_HUB": "1", "HUB_REPO_ID": require_repo(repo, "the repository")}
    # A list of words reaches the machine as it is: no shell stands between that would want quotes.
    return JobPlan(recipe.name, machine, ["bash", "-c", script()], env, secrets, repo)


def _require_portable(recipe: Recipe, env: Mapping[str, str]) -> None:
    """A job has the recipe and nothing else of this machine."""
    if not recipe.base.startswith(("local:", "hf:")):
        raise BadInput(
            f"recipe {recipe.name}: a job cannot see {recipe.base}; base must be local:smollm2 "
            "or hf:OWNER/NAME"
        )
    if recipe.start and not env.get("GRPO_START"):
        raise BadInput(
            f"recipe {recipe.name} goes on from {recipe.start}, which a job cannot see; publish "
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
    """What a job installs chaosops from: as told, or from where it was installed here."""
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
        "chaosops is installed from a folder that a job cannot see; say what the job shall "
        "install: --source git+https://… or an archive's address"
    )


def rehearse_launch(plans: Sequence[JobPlan], owner: str) -> list[Call]:
    """The calls that ``launch`` makes. Nothing is sent, so who you are may not be known."""
    api = open_api(WORK, find_token())
    calls = [] if owner else [rehearse(lambda: api.whoami(token="unused"))]
    who = owner or YOU
    return calls + [
        rehearse(lambda: api.run_job(namespace=who, **plan.arguments()))  # noqa: B023
        for plan in plans
    ]


def launch(
    plans: Sequence[JobPlan], owner: str, tell: Callable[[JobRef, str], None]
) -> list[JobRef]:
    """Start all of them at once; ``tell`` hears of each job and its page as soon as it runs."""
    token = require_token(WORK)
    api = open_api(WORK, token)
    who = owner or whoami(api, token)
    started: dict[int, JobRef] = {}

    def start(number: int) -> HubError | None:
        plan = plans[number]
        secrets = (token, *plan.secrets.values())
        try:
            with told_in_one_line(f"starting {plan.name}", secrets):
                job = api.run_job(namespace=who, **plan.arguments())
        except HubError as error:
            return error
        started[number] = JobRef(who, job.id, plan.name)
        tell(started[number], job.url)
        return None

    try:
        with ThreadPoolExecutor(len(plans)) as pool:
            answers: list[HubError | None] = list(pool.map(start, range(len(plans))))
    except KeyboardInterrupt:  # what was under way has been waited for
        answers = [HubError("stopped while starting")]
    errors = [error for error in answers if error]
    jobs = [started[number] for number in sorted(started)]
    if errors:
        raise HubError(f"{errors[0]}. {what_goes_on(jobs)}")
    return jobs


def what_goes_on(jobs: Sequence[JobRef]) -> str:
    """What a user who turns away has to know."""
    if not jobs:
        return "No job is running"
    names = ", ".join(f"{job.name} ({job})" if job.name else str(job) for job in jobs)
    ids = " ".join(map(str, jobs))
    return (
        f"Running: {names}. Come back with: chaosops jobs follow {ids}; "
        f"stop with: chaosops jobs cancel {ids}"
    )


def whoami(api: Any, token: str) -> str:
    with told_in_one_line("asking the hub who you are", [token]):
        name: str = api.whoami()["name"]
    return name


def find_jobs(texts: Sequence[str], owner: str) -> tuple[Any, list[JobRef]]:
    """From ``OWNER/ID`` or ``ID``, as a user gives them."""
    token = require_token(WORK)
    api = open_api(WORK, token)
    if not owner and any("/" not in text for text in texts):
        owner = whoami(api, token)
    jobs = []
    for text in texts:
        before, slash, job_id = text.rpartition("/")
        if not re.fullmatch(r"\w+", job_id) or (slash and not before):
            raise BadInput(f"{text!r} is no job; write ID or OWNER/ID")
        jobs.append(JobRef(before or owner, job_id))
    return api, jobs


def cancel(api: Any, jobs: Sequence[JobRef], tell: Callable[[JobRef], None]) -> None:
    """All that can be; then the first error."""
    errors = []
    for job in jobs:
        try:
            with told_in_one_line(f"cancelling {job}", [find_token()]):
                api.cancel_job(job_id=job.id, namespace=job.owner)
            tell(job)
        except HubError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def job_secrets(names: Sequence[str], *, pushes: bool, rehearsed: bool) -> dict[str, str]:
    """Values of environment variables that a job gets without anybody seeing them. A job that
    publishes needs the token; HF_TOKEN may come from a login as well."""
    require_hub(WORK)
    found = {}
    for name in dict.fromkeys([*names, *(["HF_TOKEN"] if pushes else [])]):
        value = os.environ.get(name) or (find_token() if name == "HF_TOKEN" else None)
        if not value and not rehearsed:
            cure = LOGIN if name == "HF_TOKEN" else f"set the environment variable {name}"
            raise BadInput(f"there is no {name} to pass to the jobs; {cure}")
        found[name] = value or MASK
    return found
