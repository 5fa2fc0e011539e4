"""What must never change by accident, and the way to change it on purpose.

``python -m tests.golden.record`` writes the files anew; look at the difference before you
commit it. Needs the standard library only, so that any Python can check itself.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from chaosops import Env, Scenario, Team, load_pack, load_policy, make_scenario, play
from chaosops.core.vocabulary import Role, Tier
from chaosops.roles.prompt import Style, render
from chaosops.roles.view import project

FOLDER = Path(__file__).parent
EPISODES_FILE = FOLDER / "episodes.json"
PROMPTS_FILE = FOLDER / "prompts.json"
CLASSIC_SEEDS = (0, 1, 42, 2**40 + 7)
ARENA_SEEDS = range(50)


def golden_scenarios() -> Iterator[tuple[Scenario, str]]:
    for failure in load_pack("classic").drawn:  # those that ship
        for tier in Tier:
            for seed in CLASSIC_SEEDS:
                for policy in ("random", "heuristic", "oracle"):
                    yield make_scenario(failure, tier=tier, seed=seed), policy
    for tier in Tier:
        for seed in ARENA_SEEDS:
            policy = ("random", "heuristic", "oracle")[seed % 3]
            yield make_scenario(pack="arena1", split="train", tier=tier, seed=seed), policy
    for split in load_pack("arena1").splits[1:]:
        if split == "extra":  # what was added
            continue
        yield make_scenario(pack="arena1", split=split, tier=Tier.HARD, seed=0), "random"


def golden_episodes() -> dict[str, dict[str, object]]:
    """Rewards in the open, every view and world of the way as one digest."""
    golden = {}
    for scenario, policy in golden_scenarios():
        episode = play(scenario, Team.of(load_policy(policy)))
        digest = blake2b(digest_size=12)
        env = Env(scenario)
        for turn in episode.turns:
            for role in Role:
                digest.update(json.dumps(render(project(env.world.public, role))).encode())
            env.play(turn.decision)
            digest.update(env.world.digest().encode())
        name = scenario.failure or f"{scenario.pack} {scenario.split}"
        golden[f"{name} {scenario.tier} {scenario.seed} {policy}"] = {
            "steps": episode.steps,
            "reward": episode.reward,
            "digest": digest.hexdigest(),
        }
    return golden


def golden_prompts() -> dict[str, str]:
    """All prompts of two short episodes, word for word."""
    prompts: dict[str, str] = {}
    for scenario in (
        make_scenario("rogue_deploy_bot", tier="hard", seed=42),
        make_scenario(pack="arena1", split="train", tier="hard", seed=7),
    ):
        env = Env(scenario)
        for turn in play(scenario, Team.of(load_policy("heuristic"))).turns[:8]:
            view = env.view
            for style in Style:
                system, user = (message["content"] for message in render(view, style))
                prompts.setdefault(f"{scenario.pack} {view.role} {style} system", system)
                prompts[f"{scenario.pack} {view.role} {style} step {view.step + 1}"] = user
            env.play(turn.decision)
    return prompts


def main() -> None:
    if "--print" in sys.argv:
        print(json.dumps(golden_episodes()))
        return
    EPISODES_FILE.write_text(json.dumps(golden_episodes(), indent=0) + "\n", encoding="utf-8")
    PROMPTS_FILE.write_text(json.dumps(golden_prompts(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {EPISODES_FILE} and {PROMPTS_FILE}")


if __name__ == "__main__":
    main()
