"""A played episode as data, and back: the world plays the decisions again, without any model.

Scenario and decisions are kept; what happened and what it earned follow from them. So a
recording cannot contradict itself, and one that this world does not reproduce says so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from chaosops.core.actions import Action, Unreadable, to_wire
from chaosops.core.decision import Decision, Exchange
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.files import write_text
from chaosops.core.inputs import read_text
from chaosops.core.scenario import Scenario
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.roles.parse import parse_object
from chaosops.rubrics import CompositeRubric

FORMAT = "chaosops recording 1"

# Python 3.12 adds floats up more exactly than 3.11: the last digits may differ.
_TOLERANCE = 1e-6

_Kind = TypeVar("_Kind")


class Recording(NamedTuple):
    """``manifest``: how it was made (command, version, commit, pack hash, policy status)."""

    episode: Episode
    manifest: Mapping[str, Any]


def to_record(episode: Episode) -> dict[str, Any]:
    """
    >>> from chaosops import Team, load_policy, make_scenario, play
    >>> episode = play(make_scenario("db_deadlock"), Team.of(load_policy("oracle")))
    >>> to_record(episode)["decisions"][0]["action"]
    {'action': 'identify_root_cause', 'failure_type': 'db_deadlock'}
    >>> from_record(to_record(episode)) == episode
    True
    """
    return {
        "scenario": episode.scenario.to_wire(),
        "team": episode.team,
        "pack_hash": load_pack(episode.scenario.pack).content_hash(),
        "reward": episode.reward,
        "decisions": [_decision_to_wire(turn.decision) for turn in episode.turns],
    }


def from_record(record: Mapping[str, Any], *, rubric: CompositeRubric | None = None) -> Episode:
    """Play the recorded decisions again; an episode scored otherwise needs its ``rubric``."""
    scenario = _scenario(_field(record, "scenario", dict))
    team, pack_hash = _field(record, "team", str), _field(record, "pack_hash", str)
    wires = _field(record, "decisions", list)
    decisions = [_decision(number, wire) for number, wire in enumerate(wires, 1)]
    reward = record.get("reward")
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        raise BadInput("a recording needs 'reward', a number")

    env = Env(scenario, rubric)
    episode = Episode(scenario, env.cause, env.rogue, team)
    for decision in decisions:
        if env.over:
            break
        episode.turns.append(env.play(decision))
    if episode.steps < len(decisions):
        raise _mismatch(
            scenario, pack_hash, f"over after {episode.steps} of {len(decisions)} turns"
        )
    if not env.over:
        raise _mismatch(scenario, pack_hash, f"not over after its {len(decisions)} turns")
    if not math.isclose(episode.reward, reward, rel_tol=0, abs_tol=_TOLERANCE):
        raise _mismatch(
            scenario, pack_hash, f"the reward is {episode.reward:+g}, recorded {reward:+g}"
        )
    return episode


def write_recording(path: Path, episode: Episode, manifest: Mapping[str, Any]) -> None:
    content = {"format": FORMAT, "manifest": dict(manifest), "episode": to_record(episode)}
    try:
        # Lone surrogates, which a model may write, survive as JSON escapes.
        write_text(path, json.dumps(content, indent=1) + "\n")
    except OSError as error:
        raise BadInput(f"cannot write recording {path}: {error.strerror or error}") from None


def read_recording(path: Path) -> Recording:
    text = read_text(path, "recording")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput(
            f"{path} is no whole recording: not JSON, or cut off; "
            "make one with chaosops run --record FILE"
        ) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BadInput(
            f"{path} is not a ChaosOps recording ('format' is not {FORMAT!r}); "
            "make one with chaosops run --record FILE"
        )
    try:
        manifest = _field(content, "manifest", dict)
        return Recording(from_record(_field(content, "episode", dict)), manifest)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def _mismatch(scenario: Scenario, recorded_hash: str, what: str) -> BadInput:
    present = load_pack(scenario.pack).content_hash()
    if present == recorded_hash:
        why = f"pack {scenario.pack} is {present} as recorded, so the recording was altered"
    else:
        why = (
            f"recorded with pack {scenario.pack} {recorded_hash}, this is {present}; "
            "replay it with the version that made it"
        )
    return BadInput(f"this version of the world does not reproduce the recording: {what} ({why})")


def _decision_to_wire(decision: Decision) -> dict[str, Any]:
    action, suspicion, exchange = decision
    wire: dict[str, Any] = {"action": to_wire(action)}
    if suspicion is not None:
        wire["suspicion"] = dict(suspicion)
    if exchange is not None:
        prompt = [dict(message) for message in exchange.prompt]
        wire["exchange"] = {**exchange._asdict(), "prompt": prompt}
    return wire


def _decision(number: int, wire: object) -> Decision:
    try:
        if not isinstance(wire, dict):
            raise BadInput("expected an object")
        return Decision(
            _action(_field(wire, "action", dict)),
            _suspicion(wire["suspicion"]) if "suspicion" in wire else None,
            _exchange(wire["exchange"]) if "exchange" in wire else None,
        )
    except BadInput as error:
        raise BadInput(f"decision {number} of the recording: {error}") from None


def _action(wire: dict[str, Any]) -> Action:
    if wire.get("action") == Unreadable.verb:
        return Unreadable(_field(wire, "error", str), _field(wire, "detail", str))
    action = parse_object(wire)
    if isinstance(action, Unreadable):
        raise BadInput(f"not an action ({action.error}): {action.detail}")
    return action


def _suspicion(wire: object) -> dict[str, float]:
    if not isinstance(wire, dict) or not all(type(v) in (int, float) for v in wire.values()):
        raise BadInput("'suspicion' must be an object of numbers")
    return wire


def _exchange(wire: object) -> Exchange:
    prompt = _field(wire, "prompt", list)
    for message in prompt:
        if not isinstance(message, dict) or not all(type(v) is str for v in message.values()):
            raise BadInput("'prompt' must be a list of chat messages")
    return Exchange(
        tuple(prompt),
        _field(wire, "reply", str),
        *(_field(wire, name, int) for name in ("tokens_read", "tokens_written", "attempts")),
    )


def _scenario(wire: dict[str, Any]) -> Scenario:
    names = {name: _field(wire, name, str) for name in ("pack", "tier")}
    names |= {name: _field(wire, name, str) for name in ("failure", "split") if name in wire}
    seed, limit = _field(wire, "seed", int), _field(wire, "limit", int)
    try:
        return make_scenario(seed=seed, limit=limit, **names)
    except ChaosOpsError as error:
        raise BadInput(f"the recording's scenario cannot be played: {error}") from None


def _field(data: object, name: str, kind: type[_Kind]) -> _Kind:
    value = data.get(name) if isinstance(data, Mapping) else None
    if type(value) is not kind:  # a bool is an int to isinstance
        raise BadInput(f"a recording needs '{name}' of type {kind.__name__}")
    return value
