"""``chaosops jobs cancel``"""

from __future__ import annotations

from chaosops.cli.commands.jobs_follow import Jobs, Namespace
from chaosops.cli.output import print
from chaosops.hub import jobs


def execute(job: Jobs, /, *, namespace: Namespace = "") -> int:
    api, found = jobs.find_jobs(job, namespace)
    jobs.cancel(api, found, lambda each: print(f"cancelled: {each}"))
    return 0
