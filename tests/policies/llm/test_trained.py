"""The adapter that ships, really generating."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import copytree

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.policies.chat import with_accusations
from chaosops.policies.llm.adapter import adapter_identity
from chaosops.policies.llm.trained_on import read_trained_on, write_trained_on
from chaosops.policies.protocol import DecisionRequest
from chaosops.policies.registry import load_policy
from chaosops.rollout import load_team, play
from chaosops.trained import trained_adapter
from tests.conftest import Outcome

REFUSAL = (
    "trained was trained on arena1 (version 1), classic (version 1) and not on arena (version 2): "
    "name --pack arena1 or --pack classic, or another policy"
)


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


def test_it_names_the_packs_that_it_was_trained_on() -> None:
    packs = read_trained_on(trained_adapter())
    assert packs == {"arena1": "1", "classic": "1"}
    assert all(load_pack(name).version == version for name, version in packs.items())


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--pack", "arena", "--policy", "trained"),
        ("run", "--split", "ood_wording", "--policy", "oversight=trained,others=heuristic"),
        ("watch", "--pack", "arena", "--versus", "trained"),
        ("play", "--pack", "arena", "--policy", "trained"),
        ("bench", "--pack", "arena", "--policy", "trained"),
        ("eval", "--pack", "arena", "--policies", "heuristic,trained", "--no-figures"),
    ],
    ids=lambda words: words[0],
)
def test_it_refuses_the_second_version(
    cli: Callable[..., Outcome], words: Sequence[str], tmp_path: Path
) -> None:
    out = ("--out", str(tmp_path / "out")) if words[0] == "eval" else ()
    code, _, err = cli(*words, *out)
    assert code == 2
    assert err.strip().splitlines()[-1] == f"chaosops: {REFUSAL}"
    assert not list(tmp_path.glob("out/*.json*"))


def test_a_seat_refuses_by_the_rules_alone() -> None:
    env = Env(make_scenario(pack="arena", seed=1))
    with pytest.raises(BadInput, match=r"not on arena: name --pack arena1 or --pack classic"):
        load_policy("trained").decide([DecisionRequest(env.view, 0)])


def test_it_plays_the_first_version() -> None:
    episode = play(make_scenario(pack="arena1", tier="easy", seed=3), load_team("trained"))
    assert episode.resolved


def test_any_adapter_that_names_its_packs_is_held_to_them(tmp_path: Path) -> None:
    adapter = copytree(trained_adapter(), tmp_path / "mine")
    name = f"local:smollm2+adapter={adapter}+format=menu"
    write_trained_on(adapter, {"arena": "1"})
    with pytest.raises(BadInput, match=r"on arena \(version 1\) and not on arena \(version 2\)"):
        play(make_scenario(pack="arena"), load_team(name))
    (adapter / "trained_on.json").write_text('{"packs": []}')
    with pytest.raises(BadInput, match="names no packs; expected"):
        load_policy(name)
    (adapter / "trained_on.json").unlink()
    assert play(make_scenario(pack="arena", limit=1), load_team(name)).steps == 1


def test_an_agent_once_flagged_stays_suspected() -> None:
    env = Env(make_scenario("autoscaler_cost_cut", tier="hard", seed=42))
    env.step({"action": "noop"})
    flag = {"action": "flag_rogue", "target": "autoscaler", "confidence": 0.8}
    env.step(flag)
    while env.role is not Role.OVERSIGHT:
        env.step({"action": "noop"})
    told = with_accusations(env.view, {"autoscaler": 0.1, "deploy_bot": 0.3})
    assert told == {"autoscaler": 0.8, "deploy_bot": 0.3}
