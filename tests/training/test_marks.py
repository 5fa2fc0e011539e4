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
from chaosops.roles.menu import acts_in_sight, menu
from chaosops.roles.prompt import Style, render
from chaosops.training.credited_turns import counterfactual_returns, credited_turns
from chaosops.training.learner import Learner
from chaosops.training.marks import act_marks
from chaosops.training.recipe import Recipe
from tests.training.tiny import save_tiny_model

OVERSIGHT = Recipe(
    classic_share=0.0, role_shares="sre:0,oversight:1,dev:0,manager:0", curriculum="hard:1"
)


def first_oversight(seed: int) -> Env:
    env = Env(make_scenario(pack="arena", split="train", tier="hard", seed=seed))
    env.play(Decision(Noop()))
    return env


@pytest.mark.parametrize("seed", range(12))
def test_every_act_before_the_incident_is_asked_about_once(seed: int) -> None:
    env = first_oversight(seed)
    reading = load_pack("arena").reading(env.scenario)
    text = render(env.view, Style.MENU)[1]["content"]
    marks = act_marks(env.view, text, reading)
    acts = [entry for entry in acts_in_sight(env.view) if entry.id in reading.acts]
    assert [mark.answers for mark in marks] == [reading.acts[entry.id] for entry in acts]
    assert len({mark.place for mark in marks}) == len(acts)
    for mark, entry in zip(marks, acts, strict=True):
        words = text[: mark.place + 1].rpartition(f"{entry.step:+d} {entry.agent} ")[2]
        assert "\n" not in words
        assert text[mark.place + 1] in ";\n"


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
        late, never = (counterfactual_returns(env, choices, silent=s) for s in (False, True))
        for label in right:
            seen += 1
            assert never[label] == late[label]
            assert never[label] >= never[idle] + 50
            assert late[idle] >= never[idle] + 50
    assert seen > 5


def test_the_act_behind_the_incident_pays_more_than_others_of_its_agent() -> None:
    plain = {turn.chat: turn for i in range(8) for turn in credited_turns(OVERSIGHT, i)}
    paid = {t.chat: t for i in range(8) for t in credited_turns(replace(OVERSIGHT, act_bonus=6), i)}
    raised = [
        (label, value - plain[chat].returns[label])
        for chat, turn in paid.items()
        for label, value in turn.returns.items()
        if value != plain[chat].returns[label]
    ]
    assert raised
    assert all(more == pytest.approx(6) for _, more in raised)


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
