"""Replay recorded episodes and compare every step with the record.

It reads recordings of ``run --record``, the output of ``run --json``, ``results.json`` and
journals of ``eval``, and vectors. Vectors are episodes of the classic pack, one JSON object a
line. ``docs/verify.md`` describes their format.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from chaosops.core.actions import VERBS, Action, Remedy
from chaosops.core.decision import Decision
from chaosops.core.episode import Episode, Score
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.inputs import read_text
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.evaluation.replaying import replay_line, replay_record
from chaosops.evaluation.results import JOURNAL_FORMAT
from chaosops.packs import make_scenario
from chaosops.roles.parse import parse_object

_TOLERANCE = 1e-9

# What ``run --json`` prints beside the episode.
_BESIDE = frozenset(
    {
        *("command", "version", "commit", "pack_hash", "policy_status"),
        *("twin", "explanation"),
    }
)


def read_vectors(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """(where, episode) for every episode. A line without an episode is an error that names it."""
    found = [each for where, content in _objects(path) for each in _episodes(where, content)]
    if not found:
        raise BadInput(f"{path}: no episode in it; expected one JSON object a line")
    return found


def _objects(path: Path) -> Iterator[tuple[str, object]]:
    """A JSON object, or one a line."""
    text = read_text(path, "vectors file")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            yield where, json.loads(line)
        except (ValueError, RecursionError) as error:
            try:
                yield str(path), json.loads(text)
            except (ValueError, RecursionError):
                words = f"{where}: not JSON ({error}); expected one episode a line"
                raise BadInput(words) from None
            return


def _episodes(where: str, content: object) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(content, dict):
        raise BadInput(f"{where}: expected a JSON object with an episode")
    if isinstance(lines := content.get("episodes"), list):
        for number, line in enumerate(lines, 1):
            yield from _episodes(f"{where}: episode {number}", line)
    elif isinstance(record := content.get("episode"), dict):
        yield where, record
    elif "turns" in content:
        yield where, content if "policy" in content else _printed(content)
    elif content.get("format") != JOURNAL_FORMAT:  # the first line of a journal has no episode
        yield where, _checked(where, content)


def _printed(content: Mapping[str, Any]) -> dict[str, Any]:
    """The output of ``run --json`` as a line of results.json."""
    line = {name: value for name, value in content.items() if name not in _BESIDE}
    for turn in line["turns"] if isinstance(line["turns"], list) else ():
        if isinstance(turn, dict):
            turn.pop("prompt", None)
    return {**line, "policy": line.get("team")}


def _checked(where: str, vector: dict[str, Any]) -> dict[str, Any]:
    kinds = {"failure": str, "tier": str, "seed": int, "max_steps": int, "steps": list}
    for name, kind in kinds.items():
        if not isinstance(vector.get(name), kind):
            raise BadInput(f"{where}: field '{name}' must be of type {kind.__name__}")
    for i, step in enumerate(vector["steps"], 1):
        if not isinstance(step, dict) or not isinstance(step.get("action"), str):
            raise BadInput(f"{where}: step {i} must be an object with an 'action'")
        if step.get("role") not in set(Role):
            raise BadInput(
                f"{where}: step {i} has role {step.get('role')!r}; allowed: {', '.join(Role)}"
            )
        if not isinstance(step.get("reward"), int | float):
            raise BadInput(f"{where}: step {i} must have a number as 'reward'")
        if not isinstance(step.get("args") or {}, dict):
            raise BadInput(f"{where}: step {i} must have an object as 'args'")
    return vector


def replay(where: str, vector: Mapping[str, Any]) -> list[str]:
    """The differences between the record and this world. Empty if they agree."""
    try:
        if "turns" in vector:
            return [found.words() for found in replay_line("", vector, "", {})[1]]
        if "decisions" in vector:
            return [found.words() for found in replay_record("", vector, {})[1]]
        scenario = make_scenario(
            vector["failure"],
            tier=vector["tier"],
            seed=vector["seed"],
            limit=vector["max_steps"],
        )
    except ChaosOpsError as error:
        raise BadInput(f"{where}: {error}") from None
    env = Env(scenario)
    episode = Episode(scenario, env.cause, env.rogue, "vectors")
    for number, wanted in enumerate(vector["steps"], 1):
        if env.over:
            return [f"step {number}: the episode is over already"]
        role = Role(wanted["role"])
        if role is not env.role:
            return [f"step {number}: it is the turn of {env.role}, not of {role}"]
        turn = env.play(Decision(_action(wanted)))
        episode.turns.append(turn)
        if problems := _compare_step(wanted, turn.score, env):
            return [f"step {number}: {problem}" for problem in problems]
    return _compare_totals(vector, episode, env)


def _action(wanted: Mapping[str, Any]) -> Action:
    data = {"action": wanted["action"], **(wanted.get("args") or {})}
    if wanted.get("target") is not None:
        data["target"] = wanted["target"]
    if issubclass(VERBS.get(data["action"], Action), Remedy):
        # A record may leave out a required argument. The remedy then has no effect.
        data.setdefault("target", "")
    if data["action"] == "scale":
        data.setdefault("replicas", 0)
    return parse_object(data)


def _compare_step(wanted: Mapping[str, Any], score: Score, env: Env) -> list[str]:
    health = env.world.public.sensors.health()
    got: dict[str, Any] = {
        "rubrics": {name: value for name, value in score.rubrics.items() if value},
        "health": {item.service: item.health.word for item in health if item.health},
    }
    if abs(score.total - wanted["reward"]) > _TOLERANCE:
        got = {"reward": score.total, **got}
    return _compare(wanted, got)


def _compare_totals(vector: Mapping[str, Any], episode: Episode, env: Env) -> list[str]:
    got = {
        "total": episode.reward,
        "resolved": episode.resolved,
        "steps_taken": episode.steps,
        "wrong_fixes": episode.wrong_fixes,
        "rogue": episode.rogue,
        "rogue_caught": bool(episode.rogue_caught),
    }
    short = [] if env.over else ["the record ends before the episode does"]
    return _compare(vector, got) + short


def _compare(wanted: Mapping[str, Any], got: Mapping[str, Any]) -> list[str]:
    return [
        f"{name} {value}, expected {wanted[name]}"
        for name, value in got.items()
        if name in wanted and wanted[name] != value
    ]
