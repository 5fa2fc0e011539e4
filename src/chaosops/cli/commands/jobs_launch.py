"""``chaosops jobs launch``"""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.output import print, print_json
from chaosops.core.errors import BadInput
from chaosops.hub import jobs
from chaosops.hub.client import endpoint, require_token
from chaosops.hub.jobs import JobPlan
from chaosops.training.recipe_files import find_recipe, load_recipe


def execute(
    recipe: Annotated[list[str], Parameter(help="names or TOML files")],
    /,
    *,
    namespace: Annotated[str, Parameter(help="whose jobs", show_default="yours")] = "",
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
    dry_run: Annotated[
        bool, Parameter(help="print the jobs as JSON, secrets masked; send nothing")
    ] = False,
) -> int:
    if not dry_run:
        require_token(jobs.WORK)
    overrides = dict(_pair(text, "--set") for text in set_)
    plans = jobs.plan_jobs(
        [load_recipe(find_recipe(name), overrides, note=_say) for name in recipe],
        image=image,
        flavor=flavor,
        timeout=timeout,
        source=source,
        repo_prefix=repo_prefix,
        env=dict(_pair(text, "--env") for text in env),
        secrets=jobs.job_secrets(secret, pushes=bool(repo_prefix), dry_run=dry_run),
    )
    if not repo_prefix:
        _say("no --repo-prefix: what the jobs train is lost when they end")
    if dry_run:
        print_json([plan.shown() for plan in plans])
        _say("nothing was sent")
        return 0
    print(jobs.how_to_follow(jobs.launch(plans, namespace, _tell)))
    return 0


def _tell(plan: JobPlan, page: str) -> None:
    published = f", will be published as {endpoint()}/{plan.repo}" if plan.repo else ""
    _say(f"{plan.name}: {page}{published}")


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise BadInput(f"{option} {text!r}: write NAME=VALUE")
    return name.strip(), value


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
