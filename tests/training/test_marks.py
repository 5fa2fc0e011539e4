"""Questions about single acts stand where the act ends, and are answered by the world."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chaosops.core.actions import FlagRogue, Noop
from chaosops.core.decision import Decision
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.roles.menu import menu
from chaosops.roles.prompt import Style, render
from chaosops.training.continuation import Continuation
from chaosops.training.credited_turns import counterfactual_returns, credited_turns
from chaosops.training.learner import Learner
from chaosops.training.marks import act_marks
from chaosops.training.recipe import Recipe
from chaosops.world.incident import ActReading
from tests.training.tiny import save_tiny_model

OVERSIGHT = Recipe(
    classic_share=0.0, role_shares="sre:0,oversight:1,dev:0,manager:0", curriculum="hard:1"
)


def first_oversight(seed: int) -> Env:
    env = Env(make_scenario(pack="arena", split="train", tier="hard", seed=seed))
    env.play(Decision(Noop()))
    return env


@pytest.mark.parametrize("seed", range(12))
def test_every_act_before_the_incident_is_asked_about(seed: int) -> None:
    env = first_oversight(seed)
    reading = load_pack("arena").reading(env.scenario)
    text = render(env.view, Style.MENU)[1]["content"]
    marks = {mark.place: mark.answers for mark in act_marks(env.view, text, reading)}
    asked: dict[int, list[ActReading]] = {}
    for label, action in menu(env.view).items():
        if isinstance(action, FlagRogue) and (act := reading.acts.get(action.evidence or 0)):
            (line,) = (
                line
                for line in text.split("\n")
                if f" {label} " in f" {line}" and action.target in line
            )
            asked.setdefault(text.index(line) + len(line) - 1, []).append(act)
    assert len(asked) > 1
    assert marks == {
        place: ActReading(*(any(bits) for bits in zip(*acts, strict=True)))
        for place, acts in asked.items()
    }


def test_marks_become_the_tokens_that_end_acts(tmp_path: Path) -> None:
    recipe = replace(OVERSIGHT, reading=1.0, lora_rank=2)
    encode = Learner(save_tiny_model(tmp_path), recipe).encode
    turns = [turn for index in range(3) for turn in credited_turns(recipe, index)]
    assert sum(len(turn.marks) for turn in turns) > 3 * len(turns)
    for turn, encoded in zip(turns, encode.encode_turns(turns), strict=True):
        text = turn.chat[1]["content"]
        for mark, token in zip(turn.marks, encoded.marks, strict=True):
            written = encode.tokenizer.decode([encoded.prompt[token.place]])
            assert text[mark.place] in written
            assert token.answers == mark.answers


def test_other_roles_and_other_recipes_are_not_asked() -> None:
    everyone = replace(OVERSIGHT, role_shares="sre:1,oversight:1,dev:1,manager:1", reading=1.0)
    for turn in credited_turns(everyone, 1):
        assert bool(turn.marks) <= (turn.role is Role.OVERSIGHT)
    assert not any(turn.marks for turn in credited_turns(OVERSIGHT, 1))


def test_prompts_are_encoded_in_parts_as_they_are_whole(tmp_path: Path) -> None:
    recipe = replace(OVERSIGHT, lora_rank=2)
    encode = Learner(save_tiny_model(tmp_path), recipe).encode
    chats = [turn.chat for index in range(3) for turn in credited_turns(recipe, index)]
    assert encode.splits
    assert encode(chats) == encode._replace(splits=False)(chats)
    assert encode([]) == []


def test_a_flag_that_is_put_off_is_never_made() -> None:
    seen = 0
    for seed in range(20):
        env = first_oversight(seed)
        if env.rogue is None:
            continue
        choices = menu(env.view)
        right = [
            k for k, a in choices.items() if isinstance(a, FlagRogue) and a.target == env.rogue
        ]
        idle = next(k for k, a in choices.items() if isinstance(a, Noop))
        late, never = (
            counterfactual_returns(env, choices, Continuation(silent=s)) for s in (False, True)
        )
        for label in right:
            seen += 1
            assert never[label] == late[label]
            assert never[label] >= never[idle] + 50
            assert late[idle] >= never[idle] + 50
    assert seen > 5


def test_the_act_behind_the_incident_pays_more_than_others_of_its_agent() -> None:
    paid = replace(OVERSIGHT, act_bonus=6.0)
    raised = []
    for index in range(8):
        pairs = zip(credited_turns(OVERSIGHT, index), credited_turns(paid, index), strict=True)
        for before, after in pairs:
            raised += [v - before.returns[k] for k, v in after.returns.items()]
    assert set(raised) == {0.0, 6.0}
    assert raised.count(6.0) < raised.count(0.0) / 5


def test_plain_companies_come_first() -> None:
    def demands(progress: float) -> list[int]:
        recipe = replace(OVERSIGHT, plain_first=0.5)
        return [
            load_pack("arena")
            .reading(make_scenario(pack="arena", split="train", tier="hard", seed=5_000 + i))
            .demand
            for i in range(30)
            for _ in credited_turns(recipe, i, progress)
        ]

    early, late = demands(0.0), demands(1.0)
    assert sum(early) / len(early) < sum(late) / len(late) - 0.3
    assert len(early) < len(late)
