"""What must never change by accident, and the way to change it on purpose.

``python -m tests.golden.record`` writes the files anew, ``python -m tests.golden.record arena``
those of one pack alone; look at the difference before you commit it. Needs the standard library
only, so that any Python can check itself.
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
PACKS = ("classic", "arena")
CLASSIC_SEEDS = (0, 1, 42, 2**40 + 7)
SCRIPTS = ("random", "heuristic", "auditor", "oracle")


def episodes_file(pack: str) -> Path:
    return FOLDER / f"{pack}_episodes.json"


def prompts_file(pack: str) -> Path:
    return FOLDER / f"{pack}_prompts.json"


def golden_scenarios(pack: str) -> Iterator[tuple[Scenario, str]]:
    return {"classic": _classic, "arena": _arena}[pack]()


def _classic() -> Iterator[tuple[Scenario, str]]:
    for failure in load_pack("classic").drawn:  # those that ship
        for tier in Tier:
            for seed in CLASSIC_SEEDS:
                for policy in ("random", "heuristic", "oracle"):
                    yield make_scenario(failure, tier=tier, seed=seed), policy


def _arena() -> Iterator[tuple[Scenario, str]]:
    for split in _shipped_splits("arena"):
        for tier in Tier if split in ("train", "test") else (Tier.HARD,):
            for seed, policy in enumerate(SCRIPTS):
                yield make_scenario(pack="arena", split=split, tier=tier, seed=seed), policy


def _shipped_splits(pack: str) -> list[str]:
    return [split for split in load_pack(pack).splits if split != "extra"]  # what was added


def golden_episodes(pack: str) -> dict[str, dict[str, object]]:
    """Rewards in the open; the documents, and every view and world of the way, as one digest."""
    golden = {}
    for scenario, policy in golden_scenarios(pack):
        episode = play(scenario, Team.of(load_policy(policy)))
        digest = blake2b(digest_size=12)
        env = Env(scenario)
        rules = env.world.public.rules
        digest.update("".join(map(repr, (*rules.runbook, *rules.charter))).encode())
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


def golden_prompts(pack: str) -> dict[str, str]:
    """All prompts of two rounds, word for word."""
    scenario = {
        "classic": make_scenario("rogue_deploy_bot", tier="hard", seed=42),
        "arena": make_scenario(pack="arena", split="train", tier="hard", seed=7),
    }[pack]
    prompts: dict[str, str] = {}
    env = Env(scenario)
    for turn in play(scenario, Team.of(load_policy("heuristic"))).turns[:8]:
        view = env.view
        for style in Style:
            system, user = (message["content"] for message in render(view, style))
            prompts.setdefault(f"{pack} {view.role} {style} system", system)
            if style in (Style.JSON, Style.MENU):  # other styles change as JSON does
                prompts[f"{pack} {view.role} {style} step {view.step + 1}"] = user
        env.play(turn.decision)
    return prompts


def main() -> None:
    if "--print" in sys.argv:
        print(json.dumps({pack: golden_episodes(pack) for pack in PACKS}))
        return
    for pack in sys.argv[1:] or PACKS:
        for file, content, indent in (
            (episodes_file(pack), golden_episodes(pack), 0),
            (prompts_file(pack), golden_prompts(pack), 1),
        ):
            file.write_text(json.dumps(content, indent=indent) + "\n", encoding="utf-8")
            print(f"wrote {file}")


if __name__ == "__main__":
    main()
