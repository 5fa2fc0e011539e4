"""The case file of an episode: who did it and how, what was forged, what the team did, and what it
cost. It holds the truth, so it is written when the episode is over.

It is put together from what every pack tells: its sentences, its signed records and its twins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from chaosops.core.actions import FlagRogue, IdentifyRootCause
from chaosops.core.decision import Chat
from chaosops.core.episode import Episode, Turn
from chaosops.core.events import event_words
from chaosops.core.vocabulary import ROLE_NAMES
from chaosops.env import Env
from chaosops.packs import load_pack
from chaosops.report.case_records import Compared, compare
from chaosops.report.prompts import shown_prompts
from chaosops.report.wording import worded_episode
from chaosops.world.engine import World
from chaosops.world.incident import Twin

_CITED = re.compile(r"#(\d+)")
_HARMLESS = "did no damage."  # how a sentence about a breach without consequences ends
_CHANGED = re.compile(r"(.+) made the change at minute (-?\d+)")  # somebody outside the fleet


class ClauseRead(NamedTuple):
    text: str
    broken: bool


class Suspect(NamedTuple):
    agent: str
    verdict: str
    """``rogue``, ``framed`` (an entry under its name never happened) or ``innocent``."""
    sentences: tuple[str, ...]


class Moment(NamedTuple):
    step: int
    words: str
    kind: str


class SeenTurn(NamedTuple):
    """What a role saw and did. ``reply`` and what follows it are those of a language model."""

    step: int
    role: str
    saw: str
    did: str
    outcome: str
    reply: str | None = None
    tokens_read: int = 0
    tokens_written: int = 0
    chances: Mapping[str, float] | None = None


class CaseFile(NamedTuple):
    rogue: str | None
    cause: str
    method: str
    story: tuple[str, ...]
    also: tuple[str, ...]
    """What else broke a rule, without consequences."""
    clauses: tuple[ClauseRead, ...]
    """Of the rogue."""
    compared: tuple[Compared, ...]
    suspects: tuple[Suspect, ...]
    timeline: tuple[Moment, ...]
    twin: Twin | None
    measured: tuple[str, ...]
    """What a run in real time measured of itself, where there can be no twin."""
    turns: tuple[SeenTurn, ...]
    instructions: Mapping[str, str]
    """By role, what its prompts begin with."""


def case_file(episode: Episode) -> CaseFile:
    pack = load_pack(episode.scenario.pack)
    world = Env.again(episode).world
    told = _joined(pack.explain(episode.scenario))
    story = tuple(text for text in told if not text.endswith(_HARMLESS))
    cited = {int(n) for text in story for n in _CITED.findall(text)}
    compared = tuple(compare(episode, world, cited))
    shown = worded_episode(episode)
    prompts = list(shown_prompts(episode))
    return CaseFile(
        rogue=episode.rogue,
        cause=shown.cause,
        method=_method(compared),
        story=story,
        also=tuple(text for text in told if text.endswith(_HARMLESS)),
        clauses=_clauses(world, episode.rogue, story),
        compared=compared,
        suspects=_suspects(world, episode.rogue, told, compared),
        timeline=tuple(sorted(_timeline(shown, world, story, compared), key=lambda one: one.step)),
        twin=pack.twin_of(episode),
        measured=tuple(pack.measured(episode)),
        turns=tuple(_seen(episode, shown, prompts)),
        instructions={
            turn.role.value: _said(prompt, "system")
            for turn, prompt in zip(episode.turns, prompts, strict=True)
        },
    )


def _joined(sentences: Iterable[str]) -> list[str]:
    """A sentence that begins with a pronoun belongs to the one before it."""
    found: list[str] = []
    for sentence in sentences:
        if found and sentence.startswith(("It ", "Its ")):
            found[-1] += f" {sentence}"
        else:
            found.append(sentence)
    return found


def _method(compared: Sequence[Compared]) -> str:
    """How the rogue did it. Empty without a rogue, or where entries have no numbers."""
    own = [one for one in compared if one.decisive]
    framed = [one.agent for one in compared if one.kind == "forged"]
    if framed:
        return f"It hid its own act behind a smaller one, and forged an act of {framed[0]}."
    if any(one.kind == "hidden" for one in own):
        return "It hid its act behind a smaller one."
    if len(own) > 1:
        return f"It took {len(own)} small steps. Only together do they do damage."
    return "It acted in the open." if own else ""


def _clauses(world: World, rogue: str | None, story: Iterable[str]) -> tuple[ClauseRead, ...]:
    """The charter of the rogue. The story quotes the clauses that it broke."""
    text = dict(world.public.rules.charter).get(rogue or "", "")
    about = " ".join(line for line in story if rogue and line.startswith(rogue))
    return tuple(ClauseRead(clause, clause in about) for clause in text.split("; ") if clause)


def _suspects(
    world: World, rogue: str | None, told: Sequence[str], compared: Iterable[Compared]
) -> tuple[Suspect, ...]:
    forged = {one.agent for one in compared if one.kind == "forged"}
    found = []
    for agent in world.public.rules.agents:
        verdict = "rogue" if agent == rogue else "framed" if agent in forged else "innocent"
        about = re.compile(rf"(?<![\w-]){re.escape(agent)}(?![\w-])")
        found.append(Suspect(agent, verdict, tuple(text for text in told if about.search(text))))
    return tuple(found)


def _timeline(
    episode: Episode, world: World, story: Iterable[str], compared: Sequence[Compared]
) -> Iterable[Moment]:
    """Five lines: the act, the call, the cause, the flag, the end."""
    yield _act(episode, story, compared)
    failing = sum(bool(item.health) for item in world.public.sensors.health())
    services = "service fails" if failing == 1 else "services fail"
    yield Moment(0, f"{failing} {services}, and the team is called", "call")
    yield _first(episode.turns, "cause_named", "cause") or _unnamed(episode)
    yield _flag(episode)
    ended = "the incident is resolved" if episode.resolved else "time is out: not resolved"
    yield Moment(episode.steps, f"After {episode.steps} steps {ended}", "end")


def _unnamed(episode: Episode) -> Moment:
    is_tried = any(isinstance(turn.decision.action, IdentifyRootCause) for turn in episode.turns)
    words = "Nobody named the right cause" if is_tried else "Nobody named a cause"
    return Moment(episode.steps, words, "cause")


def _act(episode: Episode, story: Iterable[str], compared: Sequence[Compared]) -> Moment:
    acts = [one for one in compared if one.decisive] or [
        one for one in compared if one.kind in ("true", "hidden")
    ]
    if acts:
        last = acts[-1]
        change = last.signed or last.claimed
        words = f"{last.agent} moves {last.setting} of {last.service}: {change}"
        return Moment(last.step, words, "act")
    for changed in filter(None, map(_CHANGED.match, story)):
        words = f"{changed[1]} makes the change, and no agent of the fleet: {episode.cause}"
        return Moment(int(changed[2]), words, "act")
    did = f"{episode.rogue} did it" if episode.rogue else "no agent of the fleet did it"
    return Moment(0, f"The fault is {episode.cause}, and {did}", "act")


def _first(turns: Iterable[Turn], event: str, kind: str) -> Moment | None:
    for turn in turns:
        if getattr(turn.events, event):
            words = f"{ROLE_NAMES[turn.role]}: {turn.decision.action}"
            return Moment(turn.events.step, words, kind)
    return None


def _flag(episode: Episode) -> Moment:
    """The right flag, or else the first one."""
    flags = [turn for turn in episode.turns if isinstance(turn.decision.action, FlagRogue)]
    right = [turn for turn in flags if turn.events.rogue_flagged]
    for turn in (right or flags)[:1]:
        agent = getattr(turn.decision.action, "target", "")
        words = f"{ROLE_NAMES[turn.role]} flags {agent}: {'right' if right else 'wrong'}"
        return Moment(turn.events.step, words, "caught" if right else "false")
    missed = "and misses the rogue" if episode.rogue else "and nobody was rogue"
    return Moment(
        episode.steps, f"Oversight flags nobody, {missed}", "missed" if episode.rogue else "kept"
    )


def _said(prompt: Chat, by: str) -> str:
    return next((said["content"] for said in prompt if said.get("role") == by), "")


def _seen(episode: Episode, shown: Episode, prompts: Sequence[Chat]) -> Iterable[SeenTurn]:
    for turn, worded, prompt in zip(episode.turns, shown.turns, prompts, strict=True):
        said = turn.decision.exchange
        yield SeenTurn(
            step=turn.events.step,
            role=turn.role.value,
            saw=_said(prompt, "user"),
            did=str(worded.decision.action),
            outcome=event_words(turn.events),
            reply=None if said is None else said.reply,
            tokens_read=0 if said is None else said.tokens_read,
            tokens_written=0 if said is None else said.tokens_written,
            chances=turn.decision.chances,
        )
