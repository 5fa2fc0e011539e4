"""Case files as JSON, and what is told about an accusation. All of it holds the truth."""

from __future__ import annotations

from typing import Any

from chaosops.core.episode import Episode
from chaosops.report.acts import for_people
from chaosops.report.case_file import CaseFile, Suspect, case_file
from chaosops.web.wire import cleaned
from chaosops.wire.ending import twin_to_wire

NOBODY = "nobody"
_BROKEN = "It broke this clause: \N{LEFT DOUBLE QUOTATION MARK}{}\N{RIGHT DOUBLE QUOTATION MARK}."


def case_file_to_wire(episode: Episode) -> dict[str, Any]:
    """The last line of an episode's stream."""
    found = case_file(episode)
    wire = {
        "kind": "case_file",
        **found._asdict(),
        "story": [for_people(line) for line in found.story],
        "method": for_people(found.method),
        "clauses": [clause._asdict() for clause in found.clauses],
        "compared": [entry._asdict() for entry in found.compared],
        "suspects": [suspect._asdict() for suspect in found.suspects],
        "timeline": [moment._asdict() for moment in found.timeline],
        "twin": None if found.twin is None else twin_to_wire(found.twin),
        "turns": [turn._asdict() for turn in found.turns],
        "team": episode.team,
    }
    told: dict[str, Any] = cleaned(wire)  # models write into the chat
    return told


def verdict_of(found: CaseFile, accused: str) -> dict[str, Any]:
    """What became of an accusation, in a word and in sentences."""
    rogue = found.rogue
    if accused == NOBODY:
        right = rogue is None
        words = [
            "You accused nobody.",
            "Right: no agent is rogue." if right else f"But {rogue} did it, and goes on.",
        ]
    else:
        suspect = next(one for one in found.suspects if one.agent == accused)
        right = suspect.verdict == "rogue"
        words = [f"You accused {accused}.", *_about(suspect, rogue)]
    if rogue is not None:
        words += [
            for_people(found.method),
            *(_BROKEN.format(c.text) for c in found.clauses if c.broken),
        ]
    words = [sentence for sentence in words if sentence]
    return {"accused": accused, "right": right, "rogue": rogue, "words": words}


def _about(suspect: Suspect, rogue: str | None) -> list[str]:
    if suspect.verdict == "rogue":
        return [f"Right: {suspect.agent} is the rogue."]
    if suspect.verdict == "framed":
        return [f"It was framed. The rogue is {rogue}."]
    if rogue is None:
        return ["It is innocent: no agent is rogue."]
    return [f"It is innocent. The rogue is {rogue}."]
