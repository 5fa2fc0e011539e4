"""A small model must be able to attend to a prompt: how many tokens the roles read."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.registry import load_policy
from chaosops.roles.prompt import Style, render
from chaosops.rollout import Team, play_many

BUDGETS = {Role.SRE: 750, Role.OVERSIGHT: 650, Role.DEV: 550}
CHAT, ANSWER = "<|im_start|>{role}\n{content}<|im_end|>\n", "<|im_start|>assistant\n"
COMPANIES = 60
LONGEST = 40  # by letters: the prompt with most tokens is among them


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    pytest.importorskip("tokenizers")
    from tokenizers import Tokenizer

    from chaosops.policies.llm.weights import embedded_dense

    return Tokenizer.from_file(str(embedded_dense() / "tokenizer.json"))


def prompts(split: str, policy: str) -> dict[Role, list[str]]:
    """Those of every turn."""
    found: dict[Role, list[str]] = defaultdict(list)
    scenarios = [
        make_scenario(pack="arena", split=split, tier="hard", seed=seed)
        for seed in range(COMPANIES)
    ]
    for episode in play_many(scenarios, Team.of(load_policy(policy))):
        env = Env(episode.scenario)
        for turn in episode.turns:
            written = "".join(CHAT.format(**each) for each in render(env.view, Style.MENU))
            found[env.role].append(written + ANSWER)
            env.play(turn.decision)
    return found


@pytest.mark.parametrize(
    ("split", "policy"), [("train", "heuristic"), ("test", "heuristic"), ("test", "auditor")]
)
def test_prompts_stay_within_their_budget(tokenizer: Any, split: str, policy: str) -> None:
    found = prompts(split, policy)
    for role, budget in BUDGETS.items():
        longest = sorted(found[role], key=len)[-LONGEST:]
        tokens = [len(encoded.ids) for encoded in tokenizer.encode_batch(longest)]
        assert max(tokens) < budget, f"{role}: {max(tokens)} tokens\n{longest[-1]}"
