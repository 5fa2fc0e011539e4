"""``chaosops jobs``"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from chaosops.cli.options import Pairs, pairs, recipe_settings
from chaosops.cli.output import note, print, print_result
from chaosops.hub import jobs
from chaosops.hub.client import endpoint, require_token
from chaosops.hub.jobs import JobPlan
from chaosops.training.recipe_files import find_recipe, load_recipe


def launch(
    recipe: list[str],
    /,
    *,
    namespace: str = "",
    set_: Annotated[Pairs, Parameter(name="--set")] = (),
    flavor: str = "a10g-small",
    # Python and uv on Debian, the default of the hub's own library. Torch includes CUDA.
    image: str = "ghcr.io/astral-sh/uv:python3.12-bookworm",
    timeout: str = "2h",
    repo_prefix: Annotated[str, Parameter(metavar="OWNER/NAME")] = "",
    source: Annotated[str, Parameter(show_default="what is installed here")] = "",
    secret: Annotated[tuple[str, ...], Parameter(metavar="NAME")] = (),
    env: Pairs = (),
    dry_run: bool = False,
) -> None:
    """
    Args:
        recipe: names of recipes that ship, or TOML files
        namespace: account that runs the jobs [default: yours]
        set_: replace a value in all recipes; repeatable
        flavor: kind of machine
        image: Docker image of the job
        timeout: time limit of a job, such as 90m or 2h
        repo_prefix: publish as OWNER/NAME-RECIPE
        source: what a job installs: git+https://…, an archive's address, chaosops==VERSION
        secret: variable to pass as a secret
        env: variable to pass
        dry_run: print the jobs as JSON, secrets masked; send nothing
    """
    if not dry_run:
        require_token(jobs.WORK)
    overrides = recipe_settings(set_)
    plans = jobs.plan_jobs(
        [load_recipe(find_recipe(name), overrides, note=note) for name in recipe],
        image=image,
        flavor=flavor,
        timeout=timeout,
        source=source,
        repo_prefix=repo_prefix,
        env=pairs(env, "--env"),
        secrets=jobs.job_secrets(secret, pushes=bool(repo_prefix), dry_run=dry_run),
    )
    if not repo_prefix:
        note("no --repo-prefix: what the jobs train is lost when they end")
    if dry_run:
        print_result([plan.shown() for plan in plans], (), as_json=True)
        note("nothing was sent")
    else:
        print(jobs.how_to_follow(jobs.launch(plans, namespace, _tell)))


def _tell(plan: JobPlan, page: str) -> None:
    published = f", will be published as {endpoint()}/{plan.repo}" if plan.repo else ""
    note(f"{plan.name}: {page}{published}")
