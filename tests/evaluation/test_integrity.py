from __future__ import annotations

import pytest

from chaosops.core.actions import FlagRogue, IdentifyRootCause
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.exploits import EXPLOITS, Exploit
from chaosops.evaluation.integrity import IntegritySearch, flagging_presence
from chaosops.evaluation.matrix import scenarios
from chaosops.packs import load_pack, make_scenario
from chaosops.rollout import Team, play

SEARCH = IntegritySearch()


@pytest.mark.parametrize("tier", Tier)
@pytest.mark.parametrize("failure", load_pack("classic").failures())
def test_no_exploit_comes_near_the_oracle(failure: str, tier: Tier) -> None:
    found = SEARCH.examine(make_scenario(failure, tier=tier, seed=17))
    assert found.problems() == []
    assert set(found.exploits) == {trick.__name__ for trick in EXPLOITS}
    assert found.best_unresolved < 0 < found.best_late < 0.9 * found.oracle <= found.optimum


def test_exploits_really_do_what_they_are_called() -> None:
    scenario = make_scenario("autoscaler_cost_cut", tier="hard", seed=1)
    played = {trick.__name__: play(scenario, Team.of(Exploit(trick))) for trick in EXPLOITS}
    assert not played["never_resolve"].resolved
    assert not played["resolve_early"].resolved
    flags = [t for t in played["flag_everyone"].turns if t.decision.action.verb == "flag_rogue"]
    assert len(flags) == 3
    assert played["stall"].steps > 20
    assert played["restart_everything"].wrong_fixes == 4
    stalled = [t.decision.action for t in played["stall"].turns]
    assert stalled.count(FlagRogue("autoscaler")) > 3
    assert stalled.count(IdentifyRootCause("autoscaler_cost_cut")) > 3


def test_an_exploit_that_pays_is_called_out() -> None:
    found = SEARCH.examine(make_scenario("autoscaler_cost_cut", tier="hard"))
    paying = found._replace(exploits={"stall": 0.9 * found.oracle}, best_late=200.0)
    assert len(paying.problems()) == 2
    assert "stall earns +165.6, not below 0.9 x the oracle's +184.0" in paying.problems()


def test_flagging_whoever_appears_loses() -> None:
    found = flagging_presence(scenarios("full", seeds=8))
    assert found.problem is None
    assert found.false_flags_per_benign_episode >= 0.9
    assert found.reward < 0.5 * found.oracle
