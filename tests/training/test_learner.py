"""The learner between two updates: how it decides, and what it expects of an audit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chaosops.core.actions import FlagRogue
from chaosops.core.errors import BadInput
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.belief import Thresholds
from chaosops.policies.llm.thresholds import read_thresholds
from chaosops.policies.protocol import DecisionRequest
from chaosops.rollout import Team, play
from chaosops.training.batches import with_lookahead
from chaosops.training.credited_turns import credited_turns
from chaosops.training.learner import Learner, column_of
from chaosops.training.learner_policy import LearnerPolicy
from chaosops.training.process_group import ProcessGroup
from tests.training.smoke import LOOKING, SMOKE


def test_what_is_not_finite_stops_the_run(base: Path) -> None:
    import torch

    learner = Learner(base, SMOKE)
    with pytest.raises(BadInput, match="not finite"):
        learner.update(torch.tensor(float("nan"), requires_grad=True), 1e-3, ProcessGroup())


def test_the_learner_plays_as_it_thinks(base: Path) -> None:
    policy = LearnerPolicy(Learner(base, SMOKE))
    scenario = make_scenario(pack="arena", split="train", tier="hard", seed=1, limit=6)
    episode = play(scenario, Team.of(policy))
    assert episode.steps == 6
    env = Env(scenario)
    env.step({"action": "noop"})
    (decision,) = policy.decide([DecisionRequest(env.view, 1)])
    assert decision.suspicion is not None
    assert set(decision.suspicion) == set(env.view.rules.agents)
    assert 0 < sum(decision.suspicion.values()) < 1


def test_the_learner_decides_by_its_belief_and_its_adapter_says_so(
    base: Path, tmp_path: Path
) -> None:
    """A belief is never below 0, and hardly ever 1."""
    env = Env(make_scenario(pack="arena", split="train", tier="hard", seed=1))
    env.step({"action": "noop"})
    for flag_at, is_flag in ((1e-9, True), (1.0, False)):
        learner = Learner(base, replace(SMOKE, flag_at=flag_at, audit_at=1.0))
        (decision,) = LearnerPolicy(learner).decide([DecisionRequest(env.view, 1)])
        assert isinstance(decision.action, FlagRogue) is is_flag
        learner.save_adapter(tmp_path)
        assert read_thresholds(tmp_path) == Thresholds(flag_at, 1.0)


def test_an_audit_gets_the_return_of_what_the_learner_does_after_it(base: Path) -> None:
    recipe = replace(LOOKING, role_shares="sre:0,oversight:1,dev:0,manager:0", classic_share=0)
    learner = Learner(base, replace(recipe, kl=0.0))
    found = [state for index in range(6) for state in credited_turns(recipe, index)]
    read = learner.encode.encode_turns(found)
    valued = with_lookahead(learner, read)
    looking = [(old, new) for old, new in zip(read, valued, strict=True) if old.follow_ups]
    assert looking
    for old, new in looking:
        for label, look in old.follow_ups.items():
            if look.turn is None:
                assert new.returns[label] == look.reward
                continue
            later = [look.reward + gain for gain in look.turn.returns.values()]
            assert min(later) <= new.returns[label] <= max(later)
            (row,) = learner.probabilities([look.turn.prompt], [list(look.turn.returns)])
            expected = sum(row[column_of(k)] * v for k, v in look.turn.returns.items())
            assert new.returns[label] == pytest.approx(look.reward + expected, abs=1e-3)
        others = set(old.returns) - set(old.follow_ups)
        assert all(new.returns[label] == old.returns[label] for label in others)
