"""``chaosops jobs launch``"""

from __future__ import annotations

import argparse
import json
import sys

from chaosops.cli.output import print
from chaosops.core.errors import BadInput
from chaosops.hub import jobs
from chaosops.hub.client import endpoint, require_token
from chaosops.hub.jobs import JobPlan
from chaosops.training.recipe_files import find_recipe, load_recipe


def execute(args: argparse.Namespace) -> int:
    if not args.dry_run:
        require_token(jobs.WORK)
    overrides = dict(_pair(text, "--set") for text in args.set)
    env = dict(_pair(text, "--env") for text in args.env)
    plans = jobs.plan_jobs(
        [load_recipe(find_recipe(name), overrides, note=_say) for name in args.recipes],
        image=args.image,
        flavor=args.flavor,
        timeout=args.timeout,
        source=args.source,
        repo_prefix=args.repo_prefix,
        env=env,
        secrets=jobs.job_secrets(args.secret, pushes=bool(args.repo_prefix), dry_run=args.dry_run),
    )
    if not args.repo_prefix:
        _say("no --repo-prefix: what the jobs train is lost when they end")
    if args.dry_run:
        print(json.dumps([plan.shown() for plan in plans], indent=1))
        _say("nothing was sent")
        return 0
    print(jobs.how_to_follow(jobs.launch(plans, args.namespace, _tell)))
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
