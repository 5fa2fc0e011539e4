"""``chaosops jobs``: launch, follow, cancel."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from rich.live import Live
from rich.table import Table
from rich.text import Text

from chaosops.cli.output import open_console, print
from chaosops.core.errors import BadInput
from chaosops.hub import follow, jobs
from chaosops.hub.client import endpoint, find_token, open_api, require_token
from chaosops.hub.follow import Watched
from chaosops.hub.jobs import JobPlan, JobRef, Machine
from chaosops.report.tables import aligned

_TITLES = ("recipe", "job", "stage", "time", "last words")
_COLOURS = {"COMPLETED": "green", "RUNNING": "cyan", "ERROR": "red", "CANCELED": "yellow"}


def execute(args: argparse.Namespace) -> int:
    work: Callable[[argparse.Namespace], int] = {
        "launch": _launch,
        "follow": _follow_given,
        "cancel": _cancel,
    }[args.what]
    return work(args)


def _launch(args: argparse.Namespace) -> int:
    if not args.dry_run:
        require_token(jobs.WORK)
    pushes = bool(args.repo_prefix)
    plans = jobs.plan_jobs(
        args.recipes,
        dict(_pair(text, "--set") for text in args.set),
        machine=Machine(args.image, args.flavor, args.timeout),
        source=args.source,
        repo_prefix=args.repo_prefix,
        env=dict(_pair(text, "--env") for text in args.env),
        secrets=jobs.job_secrets(args.secret, pushes=pushes, rehearsed=args.dry_run),
    )
    if not pushes:
        _say("no --repo-prefix: what the jobs train is gone when they end")
    if args.dry_run:
        return _rehearse(plans, args.namespace)
    started = jobs.launch(plans, args.namespace, lambda job, url: _say(f"{job.name}: {url}"))
    if args.no_follow:
        print(jobs.what_goes_on(started))
        return 0
    hidden = [value for plan in plans for value in plan.secrets.values()]
    api = open_api(jobs.WORK, find_token())
    code = _follow(api, started, hidden)
    if code == 0:
        for plan in plans:
            if plan.repo:
                print(f"{plan.name}: {endpoint()}/{plan.repo}")
    return code


def _rehearse(plans: Sequence[JobPlan], owner: str) -> int:
    for call in jobs.rehearse_launch(plans, owner):
        print(call.shown() + "\n")
    if not owner:
        _say(f"{jobs.YOU} stands for what the first call would answer; or give --namespace")
    if find_token() is None:
        _say("there is no token yet; a launch needs one")
    _say("nothing was sent")
    return 0


def _follow_given(args: argparse.Namespace) -> int:
    api, found = jobs.find_jobs(args.jobs, args.namespace)
    return _follow(api, found, [])


def _cancel(args: argparse.Namespace) -> int:
    api, found = jobs.find_jobs(args.jobs, args.namespace)
    jobs.cancel(api, found, lambda job: print(f"cancelled: {job}"))
    return 0


def _follow(api: Any, started: Sequence[JobRef], secrets: Sequence[str]) -> int:
    try:
        with _Screen() as screen:
            ended = follow.follow(api, started, screen.tell, secrets=secrets)
    except KeyboardInterrupt:
        _say(jobs.what_goes_on(started))
        return 130
    print(aligned(_TITLES, [_cells(job) for job in ended], words=len(_TITLES)))
    for job in ended:
        if job.has_failed:
            print(f"\n{job.name} ended as {job.stage}. The end of its log:", file=sys.stderr)
            for line in job.lines or ["(it wrote nothing)"]:
                print(f"  {line}", file=sys.stderr)
    return int(any(job.has_failed for job in ended))


class _Screen:
    """A table that changes on a terminal; elsewhere a line for everything that is new."""

    def __init__(self) -> None:
        console = open_console(stderr=True)
        self._live = Live(console=console, transient=True) if console.is_terminal else None
        self._told: dict[str, str] = {}

    def __enter__(self) -> _Screen:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def tell(self, watched: Sequence[Watched]) -> None:
        if self._live:
            self._live.update(_table(watched), refresh=True)
            return
        for job in watched:
            text = f"{job.name}: {job.stage} {job.last_words}".rstrip()
            if self._told.get(job.ref.id) != text:
                self._told[job.ref.id] = text
                _say(text)


def _table(watched: Sequence[Watched]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in _TITLES:
        table.add_column(title, no_wrap=True)
    for job in watched:
        name, ref, stage, spent, words = _cells(job)
        table.add_row(Text(name), ref, Text(stage, _COLOURS.get(stage, "")), spent, Text(words))
    return table


def _cells(job: Watched) -> list[str]:
    return [job.name, str(job.ref), job.stage, _time(job.seconds), job.last_words[:100]]


def _time(seconds: int | None) -> str:
    """
    >>> _time(3725), _time(None)
    ('1:02:05', '')
    """
    if seconds is None:
        return ""
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise BadInput(f"{option} {text!r}: write NAME=VALUE")
    return name.strip(), value


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
