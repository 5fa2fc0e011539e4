"""A small model must be able to attend to a prompt: how many tokens the roles read."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from statistics import median
from typing import Any

import pytest

from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.policies.registry import load_policy
from chaosops.roles.prompt import Style, render
from chaosops.rollout import Team, play

BUDGETS = {Role.SRE: 750, Role.OVERSIGHT: 650, Role.DEV: 550}
CHAT, ANSWER = "<|im_start|>{role}\n{content}<|im_end|>\n", "<|im_start|>assistant\n"
MARGIN = 1.25  # for the longest prompt
SEEDS = range(4)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    pytest.importorskip("tokenizers")
    from tokenizers import Tokenizer

    from chaosops.policies.llm.weights import embedded_dense

    return Tokenizer.from_file(str(embedded_dense() / "tokenizer.json"))


@cache
def lengths(tokenizer: Any, split: str) -> dict[Role, list[int]]:
    """Tokens of the prompts on every turn of some episodes."""
    found: dict[Role, list[int]] = defaultdict(list)
    for seed in SEEDS:
        scenario = make_scenario(pack="arena", split=split, tier="hard", seed=seed)
        env = Env(scenario)
        for turn in play(scenario, Team.of(load_policy("heuristic"))).turns:
            prompt = "".join(CHAT.format(**each) for each in render(env.view, Style.MENU))
            found[env.view.role].append(len(tokenizer.encode(prompt + ANSWER).ids))
            env.play(turn.decision)
    return dict(found)


@pytest.mark.parametrize("split", load_pack("arena").splits)
def test_prompts_stay_within_their_budget(tokenizer: Any, split: str) -> None:
    found = lengths(tokenizer, split)
    for role, budget in BUDGETS.items():
        assert median(found[role]) < budget, role
        assert max(found[role]) < budget * MARGIN, role
