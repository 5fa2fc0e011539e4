"""A played episode as data, and back: the world plays the decisions again, without any model.

Scenario and decisions are kept; what happened and what it earned follow from them. So a
record cannot contradict itself, and one that this world does not reproduce says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from chaosops.core.actions import Action, Unreadable, to_wire
from chaosops.core.chain import prompt_hash
from chaosops.core.decision import Chat, Decision, Exchange
from chaosops.core.episode import TURN_FIELDS, Episode, exchange_to_wire
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.scenario import Scenario
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.policies.llm.formats import FORMATS
from chaosops.roles.parse import parse_object
from chaosops.roles.view import RoleView
from chaosops.rubrics import CompositeRubric

# Python 3.12 adds floats up more exactly than 3.11: the last digits may differ.
TOLERANCE = 1e-6

_Kind = TypeVar("_Kind")


class Problem(NamedTuple):
    """Where a record contradicts the world; ``turn`` counts from 1, None is the whole episode."""

    turn: int | None
    what: str


# Asked before each recorded decision is played: what is wrong with it?
Check = Callable[[Env, Decision], Iterable[str]]


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


def record_of(wire: Mapping[str, Any], pack_hash: str) -> dict[str, Any]:
    """The record in an episode's wire form, as results.json holds it."""
    turns = _field(wire, "turns", list)
    return {
        **{name: wire.get(name) for name in ("scenario", "team", "reward")},
        "pack_hash": pack_hash,
        "decisions": [_decision_of_turn(number, turn) for number, turn in enumerate(turns, 1)],
    }


def from_record(record: Mapping[str, Any], *, rubric: CompositeRubric | None = None) -> Episode:
    """Play the recorded decisions again; an episode scored otherwise needs its ``rubric``."""
    episode, problems = replay(record, rubric=rubric)
    for turn, what in problems:
        where = "" if turn is None else f"turn {turn}: "
        raise _mismatch(episode.scenario, record["pack_hash"], where + what)
    return episode


def replay(
    record: Mapping[str, Any], *, rubric: CompositeRubric | None = None, check: Check | None = None
) -> tuple[Episode, list[Problem]]:
    """The episode as this world plays it, and where that is not what the record says."""
    scenario = _scenario(_field(record, "scenario", dict))
    team, _ = _field(record, "team", str), _field(record, "pack_hash", str)
    wires = _field(record, "decisions", list)
    reward = record.get("reward")
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        raise BadInput("a recording needs 'reward', a number")

    env = Env(scenario, rubric)
    episode = Episode(scenario, env.cause, env.rogue, team)
    problems: list[Problem] = []
    for number, wire in enumerate(wires, 1):
        if env.over:
            problems.append(Problem(None, f"over after {episode.steps} of {len(wires)} turns"))
            break
        decision, wrong = _decision(number, wire, env.view)
        found = [*wrong, *(check(env, decision) if check else ())]
        problems += [Problem(number, what) for what in found]
        episode.turns.append(env.play(decision))
    if not env.over:
        problems.append(Problem(None, f"not over after its {len(wires)} turns"))
    if not math.isclose(episode.reward, reward, rel_tol=0, abs_tol=TOLERANCE):
        what = f"the reward is {episode.reward:+g}, recorded {reward:+g}"
        problems.append(Problem(None, what))
    return episode, problems


def rendered_prompts(view: RoleView) -> Iterable[Chat]:
    """What a model may have been sent for this view, in each format."""
    return (known.messages(view) for known in FORMATS.values())


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
        prompt = [dict(message) for message in exchange.question]
        wire["exchange"] = {"prompt": prompt, **exchange_to_wire(exchange)}
    return wire


def _decision_of_turn(number: int, turn: object) -> dict[str, Any]:
    if not isinstance(turn, dict):
        raise BadInput(f"turn {number} is not an object")
    decision = {"action": {name: turn[name] for name in turn if name not in TURN_FIELDS}}
    if "suspicion" in turn:
        decision["suspicion"] = turn["suspicion"]
    if "reply" in turn or "prompt_sha256" in turn:
        decision["exchange"] = turn
    return decision


def _decision(number: int, wire: object, view: RoleView) -> tuple[Decision, list[str]]:
    try:
        if not isinstance(wire, dict):
            raise BadInput("expected an object")
        action = _action(_field(wire, "action", dict))
        suspicion = _suspicion(wire["suspicion"]) if "suspicion" in wire else None
        if "exchange" not in wire:
            return Decision(action, suspicion), []
        exchange, wrong = _exchange(wire["exchange"], view)
        return Decision(action, suspicion, exchange), wrong
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
    for agent, value in wire.items():
        if not 0 <= value <= 1:  # NaN is not either
            raise BadInput(f"suspicion of {agent} must be from 0 to 1, got {value}")
    return wire


def _exchange(wire: object, view: RoleView) -> tuple[Exchange, list[str]]:
    """The exchange with its whole prompt, and what is wrong about the prompt."""
    if isinstance(wire, dict) and "attempts" in wire:  # of the first format
        attempts = _field(wire, "attempts", int)
        return Exchange(_chat(wire, "prompt"), *_said(wire), attempts), []
    corrections = _chat(wire, "corrections") if "corrections" in _object(wire) else ()
    if len(corrections) % 2:
        raise BadInput("'corrections' must be pairs of a reply and its error")
    digest = _field(wire, "prompt_sha256", str)
    kept = [_chat(wire, "prompt")] if "prompt" in _object(wire) else rendered_prompts(view)
    hashes = []
    for question in kept:
        hashes.append(prompt_hash(question))
        if hashes[-1] == digest:
            break
    wrong = []
    if digest not in hashes:
        wrong.append(f"the prompt's hash is {' or '.join(hashes)}, recorded {digest}")
    return Exchange((*question, *corrections), *_said(wire), 1 + len(corrections) // 2), wrong


def _said(wire: object) -> tuple[str, int, int]:
    read, written = _field(wire, "tokens_read", int), _field(wire, "tokens_written", int)
    return _field(wire, "reply", str), read, written


def _chat(wire: object, name: str) -> Chat:
    messages = _field(wire, name, list)
    for message in messages:
        if not isinstance(message, dict) or not all(type(v) is str for v in message.values()):
            raise BadInput(f"'{name}' must be a list of chat messages")
    return tuple(messages)


def _scenario(wire: dict[str, Any]) -> Scenario:
    pack, tier = _field(wire, "pack", str), _field(wire, "tier", str)
    seed, limit = _field(wire, "seed", int), _field(wire, "limit", int)
    # A name that is missing must not become a default: "" is refused where a name is needed.
    failure, split = (_field({name: "", **wire}, name, str) for name in ("failure", "split"))
    try:
        return make_scenario(failure, tier=tier, seed=seed, limit=limit, pack=pack, split=split)
    except ChaosOpsError as error:
        raise BadInput(f"the recording's scenario cannot be played: {error}") from None


def _object(data: object) -> Mapping[str, Any]:
    return data if isinstance(data, Mapping) else {}


def _field(data: object, name: str, kind: type[_Kind]) -> _Kind:
    value = _object(data).get(name)
    if type(value) is not kind:  # a bool is an int to isinstance
        raise BadInput(f"a recording needs '{name}' of type {kind.__name__}")
    return value
