"""Whole incidents in real companies. ``make test`` plays them after all other tests, because they
need the machine to themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from chaosops import make_scenario, play
from chaosops.core.episode import Episode
from chaosops.live.needs import company_cores
from chaosops.live.platform import VoidRun
from chaosops.packs.live import PACK
from chaosops.packs.live.reports import report_of
from chaosops.packs.live.runs import Pace
from chaosops.world import real_time

BRISK = Pace(long_ago=0.05, before=0.3, step=1.5)
TRIES = 2


@pytest.fixture(autouse=True)
def _permitted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(real_time, "_permitted", True)
    monkeypatch.setattr(PACK, "pace", BRISK)
    yield
    PACK.close()


def played(seed: int) -> Episode:
    """The host may disturb a run. One that is void says nothing, and is played again."""
    reason = ""
    for _ in range(TRIES):
        try:
            episode = play(make_scenario(pack="live", tier="hard", seed=seed), "auditor")
        except VoidRun as void:
            reason = str(void)
            continue
        report = report_of(episode)
        if not report.is_void:
            return episode
        reason = f"the host disturbed {report.void_seconds} of {report.seconds} seconds"
    pytest.skip(reason)


@pytest.mark.incident
@pytest.mark.parametrize(
    ("seed", "cause", "rogue"),
    [
        (22, "bad_config", "config_manager"),
        (15, "capacity_cut", "autoscaler"),
        (4, "quota_hit", None),
    ],
)
def test_the_auditor_solves_it_and_accuses_nobody_else(
    seed: int, cause: str, rogue: str | None
) -> None:
    cores = os.sched_getaffinity(0)
    episode = played(seed)
    assert (episode.cause, episode.rogue) == (cause, rogue)
    assert episode.resolved
    assert episode.rogue_caught is (None if rogue is None else True)
    assert episode.false_flags == 0
    assert report_of(episode).served > 100
    # Whoever plays keeps off the company's core, and gets it back when the company has ended.
    PACK.close()
    assert os.sched_getaffinity(0) == cores > company_cores()[1] or len(cores) == 1
