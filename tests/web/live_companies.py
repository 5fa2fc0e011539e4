"""A server that allows live runs, over companies that are no processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

import pytest

from chaosops.live.plan import CompanyPlan
from chaosops.packs.live import PACK
from chaosops.packs.live.runs import Pace
from chaosops.web import real_time as web_real_time
from chaosops.world import real_time
from tests.fake_platform import AT_ONCE, FakePlatform

SLOWLY = AT_ONCE._replace(step=0.25)


class Companies:
    """Those that were started. ``doors`` is closed while a company must wait in its start."""

    def __init__(self) -> None:
        self.started: list[FakePlatform] = []
        self.doors = Event()
        self.doors.set()

    def start(self, plan: CompanyPlan) -> FakePlatform:
        assert self.doors.wait(60)
        self.started.append(FakePlatform(plan))
        return self.started[-1]

    @property
    def closed(self) -> list[int]:
        return [company.closed for company in self.started]


@contextmanager
def allowed(pace: Pace = AT_ONCE) -> Iterator[Companies]:
    companies = Companies()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PACK, "start", companies.start)
        patch.setattr(PACK, "pace", pace)
        patch.setattr(real_time, "_permitted", True)
        patch.setattr(web_real_time, "LOOK_S", 0.02)
        try:
            yield companies
        finally:
            companies.doors.set()
            until(lambda: not web_real_time._playing)


def until(is_so: Callable[[], Any]) -> None:
    """What happens on the server after a visitor has left."""
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.02)
