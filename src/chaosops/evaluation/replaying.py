"""Replay recorded decisions: play them in the world, render their prompts, ask scripts again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from chaosops.core import episode as played
from chaosops.core.actions import (
    Action,
    Communicate,
    FlagRogue,
    Unreadable,
    is_failed_turn,
    to_wire,
)
from chaosops.core.chain import prompt_hash
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.evaluation.claims import names_of, role_status
from chaosops.evaluation.findings import Episode, Finding, differences, shown
from chaosops.evaluation.own_policies import own_policies
from chaosops.policies.chat import flag_suspicion
from chaosops.policies.llm.formats import STANDARD, Format, filled_in, formats_of
from chaosops.policies.protocol import Policy
from chaosops.policies.registry import load_policy, registered
from chaosops.roles.parse import parse
from chaosops.roles.schema import action_schema
from chaosops.roles.view import RoleView
from chaosops.rollout import decision_request, policy_key
from chaosops.rubrics import CompositeRubric
from chaosops.wire.decisions import rendered_prompts
from chaosops.wire.episodes import episode_to_wire, record_of, replay
from chaosops.wire.recordings import recorded_rubric

# The fields of a line of results.json beside the episode's own.
_BESIDE = ("policy", "status", "chain")


def scripts_of(
    policy: str, status: Mapping[str, Any], own: Mapping[str, Policy] | None = None
) -> dict[Role, Policy]:
    """The scripted policies by role. They depend on view and key alone, so they can be asked again.

    The team's name decides. The status counts only if no policy has this name. ``own`` are policies
    of a user's own that may be asked too.
    """
    scripts: dict[Role, Policy] = {}
    names = names_of(policy)
    for role in Role:
        name, of = names.get(role), role_status(status, role)
        if name not in registered() and of.get("kind") == "scripted":
            name = of.get("policy")
        if name in registered():
            scripts[role] = load_policy(str(name))
        elif own and name is not None and name in own:
            scripts[role] = own[name]
    return scripts


def replay_lines(
    file: str, manifest: Mapping[str, Any], ask_own: bool, lines: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[played.Episode | None, list[Finding]]]:
    """Each line as this world plays it, None if it cannot be played. Runs in workers too."""
    hashes = {name: str(of["hash"]) for name, of in manifest["packs"].items()}
    own, _ = own_policies(manifest["policies"], ask=ask_own)
    scripts = {policy: scripts_of(policy, of, own) for policy, of in manifest["policies"].items()}
    rubric, formats = recorded_rubric(manifest), formats_of(manifest["policies"])
    for line in lines:
        name = Episode.of(line)
        try:
            asked = scripts[name.policy]
            pack_hash = hashes.get(str(line["scenario"]["pack"]), "")
            yield replay_line(file, line, pack_hash, asked, rubric, formats)
        except (BadInput, KeyError, TypeError) as error:
            yield None, [Finding(file, f"cannot be played: {error}", name)]


def replay_line(
    file: str,
    line: Mapping[str, Any],
    pack_hash: str,
    scripts: Mapping[Role, Policy],
    rubric: CompositeRubric | None = None,
    formats: Sequence[Format] = STANDARD,
) -> tuple[played.Episode, list[Finding]]:
    """Compare a line of results.json or of a journal with what this world plays."""
    name = Episode.of(line)
    check = partial(_check, scripts=scripts, formats=formats)
    record = record_of(line, pack_hash)
    again, problems = replay(record, rubric=rubric, check=check, formats=formats)
    findings = [Finding(file, what, name, turn) for turn, what in problems]
    recorded = {key: value for key, value in line.items() if key not in _BESIDE}
    for found in differences(recorded, episode_to_wire(again)):
        if found.path != ("reward",):  # the replay has reported it
            turn, what = found.in_turn()
            findings.append(Finding(file, what, name, turn))
    if again.team != name.policy:
        findings.append(Finding(file, f"team is {shown(again.team)}, not the policy", name))
    return again, findings


def replay_record(
    file: str,
    record: Mapping[str, Any],
    status: Mapping[str, Any],
    own: Mapping[str, Policy] | None = None,
    rubric: CompositeRubric | None = None,
) -> tuple[played.Episode, list[Finding]]:
    """A single recording, which holds whole prompts."""
    name = Episode.of({**record, "policy": record.get("team")})
    scripts, formats = scripts_of(name.policy, status, own), formats_of({name.policy: status})
    check = partial(_check, scripts=scripts, formats=formats, whole_prompts=True)
    again, problems = replay(record, rubric=rubric, check=check, formats=formats)
    return again, [Finding(file, what, name, turn) for turn, what in problems]


def _check(
    env: Env,
    decision: Decision,
    *,
    scripts: Mapping[Role, Policy],
    formats: Sequence[Format],
    whole_prompts: bool = False,
) -> Iterator[str]:
    if whole_prompts and decision.exchange is not None:
        hashes = [prompt_hash(chat) for chat in rendered_prompts(env.view, formats)]
        recorded = prompt_hash(decision.exchange.question)
        if recorded not in hashes:
            yield f"the prompt's hash is {' or '.join(dict.fromkeys(hashes))}, recorded {recorded}"
    script = scripts.get(env.role)
    if script is None:
        yield from _check_reply(env.view, decision, formats)
        return
    (own,) = script.decide([decision_request(env, script, policy_key(env.scenario))])
    if decision.exchange is not None:
        yield f"{script.name} is a script, recorded with a language model's reply"
    if decision.action != own.action:
        does, did = shown(to_wire(own.action)), shown(to_wire(decision.action))
        yield f"{script.name} does {does}, recorded {did}"
    told, tells = (None if of is None else dict(of) for of in (decision.suspicion, own.suspicion))
    for difference in differences(told, tells, ("suspicion",)):
        yield f"{script.name}: {difference.words()}"


def _check_reply(view: RoleView, decision: Decision, formats: Sequence[Format]) -> Iterator[str]:
    """Are action and suspicion what the reply says, in the format that the prompt asks for?"""
    action, exchange = decision.action, decision.exchange
    if exchange is None:
        return
    if is_failed_turn(action):
        fits = exchange.reply == ""
    else:
        asked = [of for of in formats if of.messages(view) == exchange.question]
        # A prompt in an unknown format is reported elsewhere.
        readings = [read for of in asked for read in _readings(of, view, exchange.reply)]
        fits = _unsure(action) in map(_unsure, readings) or not asked
        yield from _check_suspicion(view, decision, asked)
    if not fits:
        yield f"the reply {shown(exchange.reply)} is not the action {shown(to_wire(action))}"


def _check_suspicion(view: RoleView, decision: Decision, asked: Sequence[Format]) -> Iterator[str]:
    """Where the prompt asks for a suspicion, it is what the reply tells, or what its flag does."""
    action, suspicion, exchange, _ = decision
    for of in asked:
        if exchange is None or not of.asks_suspicion(view):
            continue
        is_read = not isinstance(action, Unreadable)
        told = of.split(view, exchange.reply)[1] if is_read else None
        flags = [flag_suspicion(view, read) for read in _readings(of, view, exchange.reply)]
        allowed = [None] if not is_read else [told] if told is not None else flags
        if suspicion not in allowed:
            yield f"the reply tells the suspicion {shown(allowed[0])}, recorded {shown(suspicion)}"
        if exchange.suspicion_lost != (is_read and told is None):
            yield f"suspicion_lost is {exchange.suspicion_lost}, and the reply tells {shown(told)}"


def _readings(reply_format: Format, view: RoleView, reply: str) -> Iterator[Action]:
    """The ways to read a reply: as free text, in a server's schema, or as a local model's message,
    which needs no escapes."""
    yield reply_format.read(view, reply)
    if reply_format.name == "json":
        action_alone, _ = reply_format.split(view, reply)
        plain = filled_in(action_alone, action_schema(view.rules, view.role))
        if plain is not None:
            yield parse(plain)
    opening = reply_format.opening(view)
    if opening and reply.startswith(opening) and reply.endswith('"}'):
        yield Communicate(reply[len(opening) : -2])


def _unsure(action: Action) -> Action:
    """The action without a flag's confidence, which comes from probabilities and not the reply."""
    return replace(action, confidence=1.0) if isinstance(action, FlagRogue) else action
