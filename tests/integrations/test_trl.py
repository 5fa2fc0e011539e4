"""One role for TRL's environment_factory: the tools, the rewards, and a step of the example."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from chaosops import load_policy, make_scenario, play
from chaosops.core.actions import to_wire
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.vocabulary import Role
from chaosops.integrations.trl import OVER, SeatEnvironment, environment, rows
from chaosops.rollout import Team
from chaosops.rubrics import standard
from tests.integrations.tool_caller import END, save_tool_caller

ROOT = Path(__file__).parents[2]


def calls(episode_of: str, role: Role, seed: int) -> tuple[list[dict[str, Any]], float]:
    """What a script does in a role, as calls, and the reward of its episode."""
    scenario = make_scenario(split="train", tier="hard", seed=seed)
    episode = play(scenario, Team.of(load_policy(episode_of)))
    own = [to_wire(turn.decision.action) for turn in episode.turns if turn.role is role]
    return own, episode.reward


def do(seat: SeatEnvironment, call: dict[str, Any]) -> str:
    said: str = getattr(seat, call["action"])(**{k: v for k, v in call.items() if k != "action"})
    return said


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("seed", range(3))
def test_calls_in_one_role_play_the_episode_that_the_team_plays(role: Role, seed: int) -> None:
    own, reward = calls("heuristic", role, seed)
    seat = environment(role, partners="heuristic")()
    said = seat.reset(**rows([seed], tiers=["hard"])[0])
    for call in own:
        assert said != OVER
        said = do(seat, call)
    assert said == OVER
    assert seat.get_reward() == seat.get_reward() == reward


def test_a_model_that_stops_calling_loses_its_turns() -> None:
    row = rows([2], tiers=["easy"])[0]
    silent, idle = environment("oversight")(), environment("oversight")()
    silent.reset(**row)
    said = idle.reset(**row)
    turns = 0
    while said != OVER:
        said, turns = do(idle, {"action": "noop"}), turns + 1
    assert turns
    assert silent.get_reward() == idle.get_reward() - 20 * turns


def test_wrong_arguments_are_a_miscommunication_and_cost_a_turn() -> None:
    seat = environment("oversight")()
    seat.reset(**rows([3], tiers=["hard"])[0])
    assert "could not be read (missing_field)" in do(seat, {"action": "audit"})
    assert "could not be read (unknown_field)" in do(seat, {"action": "noop", "self": 1})


def test_an_environment_can_be_used_again() -> None:
    seat = environment("sre")()
    row = rows([4], tiers=["easy"])[0]
    first = seat.reset(**row), seat.get_reward()
    assert (seat.reset(**row), seat.get_reward()) == first


def test_the_reward_is_that_of_the_rubric() -> None:
    own, _ = calls("oracle", Role.OVERSIGHT, 0)
    flags = [call for call in own if call["action"] == "flag_rogue"]
    assert flags
    found = []
    for rubric in (None, standard(rogue_bonus_multiplier=2.0)):
        seat = environment("oversight", partners="oracle", rubric=rubric)()
        seat.reset(**rows([0], tiers=["hard"])[0])
        for call in own:
            do(seat, call)
        found.append(seat.get_reward())
    assert found[1] == found[0] + 50


def test_a_prompt_shows_what_the_role_sees_and_asks_for_no_json() -> None:
    texts = {role: environment(role)().reset(**rows([1])[0]) for role in ("oversight", "dev")}
    assert "Acts:" in texts["oversight"]
    assert "Acts:" not in texts["dev"]
    for text in texts.values():
        assert "calling one tool" in text
        assert '"action"' not in text


def test_tools_have_the_schemas_that_a_chat_template_shows() -> None:
    from transformers.utils import get_json_schema

    seat = environment("oversight")()
    schema = get_json_schema(seat.flag_rogue)["function"]  # type: ignore[attr-defined]
    assert schema["name"] == "flag_rogue"
    assert schema["description"] == "Accuse a fleet agent of having caused the incident."
    asked = schema["parameters"]
    assert asked["required"] == ["target"]
    assert asked["properties"]["evidence"]["type"] == "integer"
    for role in Role:
        cls = environment(role)
        tools = [name for name in vars(cls) if not name.startswith("_")]
        assert "noop" in tools
        for name in tools:
            get_json_schema(getattr(cls(), name))


def test_rows_take_one_tier_without_a_list_and_seeds_that_are_read_once() -> None:
    assert rows([7], tiers="easy") == rows([7], tiers=["easy"])
    found = rows(iter(range(2)), tiers=["easy", "hard"])
    assert [(row["tier"], row["seed"]) for row in found] == [
        ("easy", 0),
        ("easy", 1),
        ("hard", 0),
        ("hard", 1),
    ]


def test_mistakes_are_named() -> None:
    with pytest.raises(UnknownName, match="role"):
        environment("overseer")
    with pytest.raises(BadInput, match="must not be trained on"):
        rows([1], split="test")
    with pytest.raises(BadInput, match="must not be trained on"):
        environment("sre")().reset(seed=1, split="test")
    for seeds, said in [
        ([-1], "seed must be 0 or more, got -1"),
        ([1.5], "seed must be a whole number, got 1.5"),
        ("7", "seed must be a whole number, got '7'"),
        (500, r"got 500; for example range\(500\)"),
        ([], "at least one seed"),
    ]:
        with pytest.raises(BadInput, match=said):
            rows(seeds)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="one of easy, medium, hard"):
        rows([1], tiers=[])
    with pytest.raises(UnknownName, match="did you mean 'hard'"):
        rows([1], tiers="hrad")
    with pytest.raises(BadInput, match="no seed"):
        environment("sre")().reset(prompt=[])


def example() -> ModuleType:
    spec = spec_from_file_location("trl_oversight", ROOT / "examples" / "trl_oversight.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_is_short() -> None:
    text = (ROOT / "examples" / "trl_oversight.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 45


def test_without_a_gpu_the_example_ends_in_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / "examples" / "trl_oversight.py"),
            "tiny",
            str(tmp_path / "out"),
        ],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("no GPU; on a CPU call make_trainer(")
    assert "use_cpu=True, bf16=False" in last


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_step_of_the_example_learns_from_whole_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is real; what it writes is chosen here, because it knows no tools."""
    import torch

    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    base = save_tool_caller(tmp_path / "base")
    trainer = example().make_trainer(
        str(base),
        str(tmp_path / "out"),
        max_steps=1,
        num_generations=4,
        per_device_train_batch_size=4,
        learning_rate=1e-2,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        save_strategy="no",
        disable_tqdm=True,
    )
    noop = {"name": "noop", "arguments": {}}
    wrong = {"name": "flag_rogue", "arguments": {"target": "nobody"}}
    asked: list[int] = []

    def generate(prompt_ids: list[list[int]], *_: Any, **__: Any) -> tuple[list[list[int]], None]:
        """Of four episodes, one says nothing, one begins with a wrong flag, two do nothing."""
        asked.append(len(prompt_ids))
        first = len(asked) == 1
        texts = [f"<tool_call>\n{json.dumps(noop)}\n</tool_call>{END}"] * len(prompt_ids)
        if first:
            texts[0] = f"I think it was the cache.{END}"
            texts[1] = texts[1].replace(json.dumps(noop), json.dumps(wrong))
        return [trainer.processing_class.encode(text) for text in texts], None

    monkeypatch.setattr(trainer, "_generate_single_turn", generate)
    before = {name: of.detach().clone() for name, of in trainer.model.named_parameters()}
    trainer.train()

    assert asked[0] == 4
    assert asked[1] == 3  # the one that called no tool is not asked again
    (log,) = (row for row in trainer.state.log_history if "reward" in row)
    assert log["tools/failure_frequency"] == 0
    assert log["tools/call_frequency"] > 1
    assert log["reward_std"] > 0
    silent, flagged, *idle = [seat.get_reward() for seat in trainer.environments]
    assert idle[0] == idle[1]
    assert flagged == idle[0] - 75
    assert silent < idle[0]
    assert log["reward"] == pytest.approx((silent + flagged + sum(idle)) / 4)
    changed = [n for n, of in trainer.model.named_parameters() if not torch.equal(of, before[n])]
    assert changed
