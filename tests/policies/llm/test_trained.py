"""The adapter that ships, really generating."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.chat import with_accusations
from chaosops.policies.llm.adapter import adapter_identity
from chaosops.policies.registry import load_policy
from chaosops.rollout import load_team, play
from chaosops.trained import trained_adapter


def test_its_status_names_the_adapter_by_its_hash() -> None:
    weights = trained_adapter() / "adapter_model.safetensors"
    assert weights.stat().st_size <= 16_000_000
    status = load_policy("trained").status()
    assert status["adapter"] == f"adapter {adapter_identity(weights.parent)}"
    assert (status["model"], status["format"]) == ("smollm2", "menu")
    assert str(weights.parent) not in str(status)


@pytest.mark.parametrize("scenario", ["rogue_deploy_bot", "disk_full"])
def test_it_solves_incidents_on_seeds_it_never_saw(scenario: str) -> None:
    """With a rogue and without; the demo's test has another rogue."""
    team = load_team("trained")
    episode = play(make_scenario(scenario, tier="hard", seed=4_242), team)
    best = play(episode.scenario, load_team("oracle"))
    assert episode.resolved
    assert episode.false_flags == 0
    assert episode.rogue_caught == best.rogue_caught
    assert episode.reward >= 0.9 * best.reward


def test_a_missing_adapter_is_an_error_with_its_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CHAOSOPS_TRAINED", str(tmp_path / "gone"))
    with pytest.raises(BadInput, match=r"gone/adapter_model\.safetensors does not exist"):
        load_policy("trained")


def test_what_makes_it_itself_cannot_be_replaced() -> None:
    with pytest.raises(BadInput, match="format of 'trained' is its own"):
        load_policy("trained+format=json")


def test_an_agent_once_flagged_stays_suspected() -> None:
    env = Env(make_scenario("autoscaler_cost_cut", tier="hard", seed=42))
    env.step({"action": "noop"})
    flag = {"action": "flag_rogue", "target": "autoscaler", "confidence": 0.8}
    env.step(flag)
    while env.role is not Role.OVERSIGHT:
        env.step({"action": "noop"})
    told = with_accusations(env.view, {"autoscaler": 0.1, "deploy_bot": 0.3})
    assert told == {"autoscaler": 0.8, "deploy_bot": 0.3}
