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
from chaosops.policies.llm.thresholds import read_thresholds
from chaosops.policies.llm.trained_on import read_trained_on, write_trained_on
from chaosops.policies.protocol import DecisionRequest
from chaosops.policies.registry import load_policy
from chaosops.rollout import load_team, play, play_many
from chaosops.trained import trained_adapter
from chaosops.training.recipe_files import find_recipe, load_recipe
from tests.conftest import Outcome


def test_its_status_names_the_adapter_by_its_hash() -> None:
    weights = trained_adapter() / "adapter_model.safetensors"
    assert weights.stat().st_size <= 16_000_000
    status = load_policy("trained").status()
    assert status["adapter"] == f"adapter {adapter_identity(weights.parent)}"
    assert (status["model"], status["format"]) == ("smollm2", "menu")
    assert str(weights.parent) not in str(status)


def test_it_solves_incidents_on_seeds_it_never_saw() -> None:
    """Most of the classic ones; the base solves none."""
    names = ("rogue_deploy_bot", "disk_full", "db_deadlock")
    scenarios = [make_scenario(name, tier="medium", seed=4_242) for name in names]
    episodes = list(play_many(scenarios, load_team("trained"), side_by_side=1))
    assert sum(episode.resolved for episode in episodes) >= 2


def test_it_solves_a_company_that_it_never_saw() -> None:
    """The base solves none. One company may be too hard, so there is a second one."""
    for split in ("test", "reserve"):
        scenario = make_scenario(pack="arena", split=split, tier="easy", seed=7)
        episode = play(scenario, load_team("trained"))
        told = [turn.decision.suspicion for turn in episode.turns if turn.decision.suspicion]
        assert told
        assert all(0 <= share <= 1 for of in told for share in of.values())
        if episode.resolved:
            return
    raise AssertionError("neither company was resolved")


def test_a_prompt_that_was_asked_before_is_answered_alike() -> None:
    """To the last bit of its suspicion, whatever was asked in between."""
    policy, asked = load_policy("trained"), []
    for failure in ("autoscaler_cost_cut", "disk_full"):
        env = Env(make_scenario(failure, tier="hard", seed=4_242))
        env.step({"action": "noop"})
        asked.append(DecisionRequest(env.view, 0))
    first = policy.decide(asked)
    assert all(decision.suspicion for decision in first)
    assert policy.decide([asked[0], asked[0], asked[1]]) == [first[0], *first]


def test_it_decides_by_the_thresholds_beside_it() -> None:
    """Its Oversight flags from a belief on. Its status and its recipe say from which."""
    thresholds = read_thresholds(trained_adapter())
    assert thresholds is not None
    assert load_policy("trained").status()["thresholds"] == thresholds._asdict()
    last = load_recipe(find_recipe("reading_fourth"))
    assert thresholds == last.thresholds


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
    assert packs == {"arena": "2", "classic": "1"}
    assert all(load_pack(name).version == version for name, version in packs.items())


@pytest.fixture
def classic_alone(tmp_path: Path) -> str:
    """A model that was trained on one of the packs only."""
    adapter = copytree(trained_adapter(), tmp_path / "mine")
    write_trained_on(adapter, {"classic": "1"})
    return f"local:smollm2+adapter={adapter}+format=menu"


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--pack", "arena", "--policy", "MODEL"),
        ("run", "--split", "ood_wording", "--policy", "oversight=MODEL,others=heuristic"),
        ("watch", "--pack", "arena", "--versus", "MODEL"),
        ("play", "--pack", "arena", "--policy", "MODEL"),
        ("bench", "--pack", "arena", "--policy", "MODEL"),
        ("eval", "--pack", "arena", "--policies", "heuristic,MODEL", "--no-figures"),
    ],
    ids=lambda words: words[0],
)
def test_a_pack_that_it_was_not_trained_on_is_refused(
    cli: Callable[..., Outcome], words: Sequence[str], classic_alone: str, tmp_path: Path
) -> None:
    out = ("--out", str(tmp_path / "out")) if words[0] == "eval" else ()
    code, _, err = cli(*(word.replace("MODEL", classic_alone) for word in words), *out)
    assert code == 2
    refusal = (
        " was trained on classic (version 1) and not on arena (version 2): "
        "name --pack classic, or another policy"
    )
    assert err.strip().splitlines()[-1].endswith(refusal)
    assert not list(tmp_path.glob("out/*.json*"))


def test_a_seat_refuses_by_the_rules_alone(classic_alone: str) -> None:
    env = Env(make_scenario(pack="arena", seed=1))
    with pytest.raises(BadInput, match=r"not on arena: name --pack classic, or another policy"):
        load_policy(classic_alone).decide([DecisionRequest(env.view, 0)])


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
