"""``chaosops jobs launch``"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.commands.jobs_follow import Namespace, follow_jobs, say
from chaosops.cli.output import print
from chaosops.core.errors import BadInput
from chaosops.hub import jobs
from chaosops.hub.client import endpoint, find_token, open_api, require_token
from chaosops.hub.jobs import JobPlan, Machine


def execute(
    recipes: Annotated[list[Path], Parameter(metavar="RECIPE.toml")],
    /,
    *,
    namespace: Namespace = "",
    set_: Annotated[
        tuple[str, ...],
        Parameter(name="--set", metavar="NAME=VALUE", help="as for train; for all recipes"),
    ] = (),
    flavor: Annotated[str, Parameter(help="machine")] = "a10g-small",
    # Python and uv on Debian, as the hub's own library takes it; torch brings its CUDA along.
    image: str = "ghcr.io/astral-sh/uv:python3.12-bookworm",
    timeout: Annotated[str, Parameter(help="of a job")] = "2h",
    repo_prefix: Annotated[
        str, Parameter(metavar="OWNER/NAME", help="publish as OWNER/NAME-RECIPE")
    ] = "",
    source: Annotated[
        str,
        Parameter(
            help="what a job installs: git+https://…, an archive's address, chaosops==VERSION",
            show_default="what is installed here",
        ),
    ] = "",
    secret: Annotated[
        tuple[str, ...], Parameter(metavar="NAME", help="variable to pass unseen")
    ] = (),
    env: Annotated[tuple[str, ...], Parameter(metavar="NAME=VALUE", help="variable to pass")] = (),
    dry_run: Annotated[bool, Parameter(help="print the calls, send nothing")] = False,
    no_follow: Annotated[bool, Parameter(help="start them and return")] = False,
) -> int:
    if not dry_run:
        require_token(jobs.WORK)
    pushes = bool(repo_prefix)
    plans = jobs.plan_jobs(
        recipes,
        dict(_pair(text, "--set") for text in set_),
        machine=Machine(image, flavor, timeout),
        source=source,
        repo_prefix=repo_prefix,
        env=dict(_pair(text, "--env") for text in env),
        secrets=jobs.job_secrets(secret, pushes=pushes, rehearsed=dry_run),
    )
    if not pushes:
        say("no --repo-prefix: what the jobs train is gone when they end")
    if dry_run:
        return _rehearse(plans, namespace)
    started = jobs.launch(plans, namespace, lambda job, url: say(f"{job.name}: {url}"))
    if no_follow:
        print(jobs.what_goes_on(started))
        return 0
    hidden = [value for plan in plans for value in plan.secrets.values()]
    api = open_api(jobs.WORK, find_token())
    code = follow_jobs(api, started, hidden)
    if code == 0:
        for plan in plans:
            if plan.repo:
                print(f"{plan.name}: {endpoint()}/{plan.repo}")
    return code


def _rehearse(plans: Sequence[JobPlan], owner: str) -> int:
    for call in jobs.rehearse_launch(plans, owner):
        print(call.shown() + "\n")
    if not owner:
        say(f"{jobs.YOU} stands for what the first call would answer; or give --namespace")
    if find_token() is None:
        say("there is no token yet; a launch needs one")
    say("nothing was sent")
    return 0


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise BadInput(f"{option} {text!r}: write NAME=VALUE")
    return name.strip(), value
