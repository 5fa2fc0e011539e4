"""Watching jobs to their end: their stage, their last words, how long they take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

from chaosops.hub.client import HubError, find_token, is_passing, scrubbed, told_in_one_line
from chaosops.hub.jobs import JobRef, what_goes_on

COMPLETED = "COMPLETED"
FINAL = (COMPLETED, "CANCELED", "ERROR", "DELETED")
POLL_S = 5.0
PATIENCE_S = 600.0  # without a single answer
TAIL = 30  # lines of a failed job's log


@dataclass
class Watched:
    """A job as it was last seen. A reader's thread appends lines, the rest is ours alone."""

    ref: JobRef
    secrets: Sequence[str | None] = ()
    stage: str = "UNKNOWN"
    seconds: int | None = None
    note: str = ""
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL))
    reader: Thread | None = None

    @property
    def name(self) -> str:
        return self.ref.name or self.ref.id

    @property
    def is_over(self) -> bool:
        return self.stage in FINAL

    @property
    def has_failed(self) -> bool:
        return self.is_over and self.stage != COMPLETED

    @property
    def last_words(self) -> str:
        return self.note or (self.lines[-1] if self.lines else "")

    def hear(self, line: str) -> None:
        if text := scrubbed(line, self.secrets).strip():
            self.lines.append(text)


def follow(
    api: Any,
    jobs: Sequence[JobRef],
    tell: Callable[[Sequence[Watched]], None],
    *,
    secrets: Sequence[str | None] = (),
) -> list[Watched]:
    """Until all are over. ``tell`` is called after every look; what is out of order for a while
    is waited for, because the jobs go on without us."""
    hidden = (find_token(), *secrets)
    watched = [Watched(job, hidden) for job in jobs]
    answered = time.monotonic()
    while running := [job for job in watched if not job.is_over]:
        answers = [_look(api, job) for job in running]
        if any(answers):
            answered = time.monotonic()
        elif time.monotonic() - answered > PATIENCE_S:
            raise HubError(
                f"no answer from the hub for {PATIENCE_S:.0f} s ({running[0].note}). "
                f"{what_goes_on([job.ref for job in running])}"
            )
        tell(watched)
        if not all(job.is_over for job in watched):
            time.sleep(POLL_S)
    for job in watched:
        if job.has_failed:
            _read_tail(api, job)
    return watched


def _look(api: Any, job: Watched) -> bool:
    """Whether the hub answered."""
    try:
        info = api.inspect_job(job_id=job.ref.id, namespace=job.ref.owner)
    except Exception as error:
        if not is_passing(error):
            with told_in_one_line(f"looking at {job.ref}", job.secrets):
                raise
        job.note = f"no answer from the hub: {type(error).__name__}"
        return False
    job.stage = str(getattr(info.status.stage, "value", info.status.stage))
    job.note = scrubbed(info.status.message or "", job.secrets)
    spent = info.durations
    if spent is not None:
        job.seconds = spent.running_secs if spent.running_secs is not None else spent.total_secs
    if job.ref.name == "" and info.labels:
        job.ref = job.ref._replace(name=info.labels.get("name", ""))
    if job.stage == "RUNNING" and (job.reader is None or not job.reader.is_alive()):
        # A daemon: whoever stops following does not wait for the next line of a log.
        job.reader = Thread(target=_read_log, args=(api, job), daemon=True)
        job.reader.start()
    return True


def _read_log(api: Any, job: Watched) -> None:
    """Ends with the job. A log that breaks off is begun again after the next look."""
    try:
        for line in api.fetch_job_logs(
            job_id=job.ref.id, namespace=job.ref.owner, follow=True, tail=1
        ):
            job.hear(line)
    except Exception as error:
        job.hear(f"(the log cannot be read: {type(error).__name__})")


def _read_tail(api: Any, job: Watched) -> None:
    """The end of a failed job's log, whole: the reader may have been cut short."""
    try:
        lines = list(api.fetch_job_logs(job_id=job.ref.id, namespace=job.ref.owner, tail=TAIL))
    except Exception as error:
        job.hear(f"(the log cannot be read: {type(error).__name__})")
        return
    if lines:
        job.lines.clear()
    for line in lines:
        job.hear(line)
