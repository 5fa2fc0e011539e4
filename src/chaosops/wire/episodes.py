"""An episode as JSON, and back by playing its decisions again, without any model.

A record keeps the scenario and the decisions. Events and rewards follow from them, so a record
that this world does not reproduce is noticed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from chaosops.core.actions import TURN_FIELDS, to_wire
from chaosops.core.decision import Decision
from chaosops.core.episode import Episode, Turn
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.scenario import Scenario
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario, require_version
from chaosops.policies.llm.formats import STANDARD, Format
from chaosops.rubrics import CompositeRubric
from chaosops.wire.decisions import exchange_to_wire, field, read_decision, recorded_decision
from chaosops.wire.ending import explanation

# Python 3.12 sums floats more exactly than 3.11, so the last digits may differ.
TOLERANCE = 1e-6

# Computed from the turns. The debrief and the results list them in this order.
_COUNTS = ("wrong_fixes", "false_flags", "unknown_flags", "miscommunications")


class Problem(NamedTuple):
    """Where a record contradicts the world; ``turn`` counts from 1, None is the whole episode."""

    turn: int | None
    what: str


# Called before each recorded decision is played. Returns what is wrong with it.
Check = Callable[[Env, Decision], Iterable[str]]


def episode_to_wire(episode: Episode) -> dict[str, Any]:
    """What happened, with every turn: a line of results.json."""
    return {
        **figures_to_wire(episode),
        "turns": [turn_to_wire(turn) for turn in episode.turns],
        **_observed(episode),
    }


def _observed(episode: Episode) -> dict[str, Any]:
    return {"observed": episode.observed} if episode.observed else {}


def figures_to_wire(episode: Episode) -> dict[str, Any]:
    """The same without the turns: what metrics are computed from."""
    wire = {
        "scenario": episode.scenario.to_wire(),
        "cause": episode.cause,
        "team": episode.team,
        **_figures(episode, "reward", "resolved", "steps", *_COUNTS, "unreadable_replies"),
    }
    if episode.exchanges:  # a script has none of these figures
        wire |= _figures(episode, "tokens_read", "tokens_written", "retries", "failed_turns")
        counts = _figures(episode, "reasoning_chars", "lost_suspicions")
        wire |= {name: count for name, count in counts.items() if count}
    return wire | {
        "rogue": episode.rogue,
        "rogue_caught": episode.rogue_caught,
        "rubrics": episode.rubric_totals,
    }


def turn_to_wire(turn: Turn) -> dict[str, Any]:
    """``step``, ``role``, the fields of the action, then the rest of the turn: enough to play it
    again and to compute every figure."""
    events = {
        name: value
        for name, value in turn.events._asdict().items()
        if value not in (False, None) and name != "step"
    }
    action, suspicion, exchange, _ = turn.decision
    return {
        "step": turn.events.step,
        "role": turn.role.value,
        **to_wire(action),
        **({} if suspicion is None else {"suspicion": dict(suspicion)}),
        **({} if exchange is None else exchange_to_wire(exchange)),
        "events": events,
        "reward": turn.score.total,
        "rubrics": {name: value for name, value in turn.score.rubrics.items() if value},
    }


def scored_turn(turn: Turn) -> dict[str, Any]:
    """OpenEnv's ``last_turn``, for a trainer: the score with all its components."""
    score = turn.score
    return {
        "role": turn.role.value,
        "action": to_wire(turn.decision.action),
        "rubrics": dict(score.rubrics),
        "components": {name: dict(parts) for name, parts in score.components.items()},
        "miscommunication": turn.events.miscommunication,
    }


def decision_of_turn(turn: object) -> dict[str, Any]:
    """The recorded decision in the JSON form of a turn."""
    if not isinstance(turn, dict):
        raise BadInput("expected an object")
    decision = {"action": {name: turn[name] for name in turn if name not in TURN_FIELDS}}
    if "suspicion" in turn:
        decision["suspicion"] = turn["suspicion"]
    if "reply" in turn or "prompt_sha256" in turn:
        decision["exchange"] = turn
    return decision


def debrief_to_wire(episode: Episode) -> dict[str, Any]:
    """What players receive when an episode is over: the truth and their figures."""
    scenario = episode.scenario
    return {
        "pack": scenario.pack,
        "tier": scenario.tier.value,
        "split": scenario.split,
        "seed": scenario.seed,
        "failure": episode.cause,
        **_figures(episode, "rogue", "rogue_caught", "resolved", "steps", *_COUNTS, "reward"),
        "rubrics": episode.rubric_totals,
        **({"explanation": told} if (told := explanation(episode)) else {}),
    }


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
        "decisions": [recorded_decision(turn.decision) for turn in episode.turns],
        **_observed(episode),
    }


def record_of(wire: Mapping[str, Any], pack_hash: str) -> dict[str, Any]:
    """The record in a line of results.json."""
    turns = field(wire, "turns", list)
    return {
        **{name: wire.get(name) for name in ("scenario", "team", "reward")},
        "pack_hash": pack_hash,
        **({"observed": wire["observed"]} if "observed" in wire else {}),
        "decisions": [
            _numbered(f"turn {number}", decision_of_turn, turn)
            for number, turn in enumerate(turns, 1)
        ],
    }


def from_record(
    record: Mapping[str, Any],
    *,
    rubric: CompositeRubric | None = None,
    formats: Sequence[Format] = STANDARD,
) -> Episode:
    """Play the recorded decisions again. An episode with another reward needs its ``rubric``, one
    with a prompt of the user's own its ``formats``."""
    episode, problems = replay(record, rubric=rubric, formats=formats)
    for turn, what in problems:
        where = "" if turn is None else f"turn {turn}: "
        raise _mismatch(episode.scenario, record["pack_hash"], where + what)
    return episode


def replay(
    record: Mapping[str, Any],
    *,
    rubric: CompositeRubric | None = None,
    check: Check | None = None,
    formats: Sequence[Format] = STANDARD,
) -> tuple[Episode, list[Problem]]:
    """The episode as this world plays it, and where the record differs from it."""
    scenario = read_scenario(field(record, "scenario", dict))
    team, _ = field(record, "team", str), field(record, "pack_hash", str)
    wires = field(record, "decisions", list)
    reward = record.get("reward")
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        raise BadInput("a recording needs 'reward', a number")

    observed = field({"observed": [], **record}, "observed", list)
    if load_pack(scenario.pack).real_time and not observed:
        raise BadInput(f"a recording of pack {scenario.pack} needs 'observed': it cannot be played")
    env = Env(scenario, rubric, observed)
    episode = Episode(scenario, env.cause, env.rogue, team, observed=observed)
    problems: list[Problem] = []
    for number, wire in enumerate(wires, 1):
        if env.over:
            problems.append(Problem(None, f"over after {episode.steps} of {len(wires)} turns"))
            break
        where = f"decision {number} of the recording"
        decision, wrong = _numbered(where, read_decision, wire, env.view, formats)
        found = [*wrong, *(check(env, decision) if check else ())]
        problems += [Problem(number, what) for what in found]
        episode.turns.append(env.play(decision))
    if not env.over:
        problems.append(Problem(None, f"not over after its {len(wires)} turns"))
    if not math.isclose(episode.reward, reward, rel_tol=0, abs_tol=TOLERANCE):
        what = f"the reward is {episode.reward:+g}, recorded {reward:+g}"
        problems.append(Problem(None, what))
    return episode, problems


def _figures(episode: Episode, *names: str) -> dict[str, Any]:
    return {name: getattr(episode, name) for name in names}


def _numbered(where: str, read: Callable[..., Any], *given: object) -> Any:
    try:
        return read(*given)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


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


def read_scenario(wire: dict[str, Any]) -> Scenario:
    """What ``Scenario.to_wire`` wrote."""
    pack, tier = field(wire, "pack", str), field(wire, "tier", str)
    seed, limit = field(wire, "seed", int), field(wire, "limit", int)
    # A missing name must not become a default: "" is refused where a name is needed.
    names = ("failure", "split", "mechanisms", "version")
    failure, split, own, version = (field({name: "", **wire}, name, str) for name in names)
    try:
        require_version(pack, version)
        return make_scenario(
            failure,
            tier=tier,
            seed=seed,
            limit=limit,
            pack=pack,
            split=split,
            mechanisms=own,
        )
    except ChaosOpsError as error:
        raise BadInput(f"the recording's scenario cannot be played: {error}") from None
