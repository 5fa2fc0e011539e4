"""Records the cases that the page shows: ``python -m scripts.record_cases``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from chaosops.core.source import source_commit
from chaosops.core.vocabulary import Role
from chaosops.packs import make_scenario
from chaosops.rollout import Team, load_team, play_many, policy_names
from chaosops.version import VERSION
from chaosops.web.recorded_cases import FORMAT
from chaosops.wire.episodes import to_record

# Incidents of every kind: a forged entry, small steps, an order that covers the act, a rule with a
# hole, a change that no agent made. Their names say nothing about them.
CASES = {
    "heron": ("hard", 91),
    "wren": ("medium", 23),
    "siskin": ("hard", 5),
    "plover": ("medium", 98),
    "dunlin": ("medium", 24),
    "osprey": ("hard", 9),
    "avocet": ("hard", 8),
    "kestrel": ("hard", 138),
    "lapwing": ("hard", 41),
    "curlew": ("hard", 110),
    "godwit": ("medium", 119),
    "merlin": ("hard", 3),
}
SPLIT = "test"


def record(policies: Iterable[str], out: Path) -> list[Path]:
    """Play all cases with each team, and write them."""
    scenarios = {
        name: make_scenario(split=SPLIT, tier=tier, seed=seed)
        for name, (tier, seed) in CASES.items()
    }
    commit = source_commit()  # before anything is written
    played: dict[str, list[dict[str, Any]]] = {name: [] for name in scenarios}
    for text in policies:
        team = load_team(text)
        for name, episode in zip(scenarios, play_many(scenarios.values(), team), strict=True):
            played[name].append(_recording(text, team, commit, to_record(episode)))
    paths = []
    for number, (name, scenario) in enumerate(scenarios.items(), 1):
        path = out / f"{name}.json"
        content = {
            "format": FORMAT,
            "number": number,
            "scenario": scenario.to_wire(),
            "recordings": [*_others(path, scenario.to_wire(), played[name]), *played[name]],
        }
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        paths.append(path)
    return paths


def _recording(text: str, team: Team, commit: str | None, record: dict[str, Any]) -> dict[str, Any]:
    for decision in record["decisions"]:
        # The prompt can be rendered again, and its hash is kept.
        decision.get("exchange", {}).pop("prompt", None)
    manifest = {"version": VERSION, "commit": commit, "policy_status": team.status()}
    policy = policy_names(text)[Role.OVERSIGHT]
    return {"policy": policy, "team": text, "manifest": manifest, "record": record}


def _others(
    path: Path, scenario: dict[str, Any], played: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """What was recorded before on the same incident, by others."""
    if not path.is_file():
        return []
    before = json.loads(path.read_text(encoding="utf-8"))
    names = {one["policy"] for one in played}
    if before["scenario"] != scenario:
        return []
    return [one for one in before["recordings"] if one["policy"] not in names]
