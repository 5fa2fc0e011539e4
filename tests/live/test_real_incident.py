"""A whole incident in a real company: ``make live``."""

from __future__ import annotations

import pytest

from chaosops import make_scenario, play
from chaosops.packs.live import PACK
from chaosops.packs.live.pack import VoidRun
from chaosops.packs.live.reports import report_of
from chaosops.world import real_time


@pytest.mark.company
def test_the_auditor_solves_it_and_catches_the_rogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_time, "_permitted", True)
    try:
        episode = play(make_scenario(pack="live", tier="hard", seed=22), "auditor")
    except VoidRun as void:
        pytest.skip(str(void))
    finally:
        PACK.close()
    if report_of(episode).is_void:
        pytest.skip("the host disturbed the company")
    assert episode.resolved
    assert episode.rogue_caught
    assert episode.false_flags == 0
