"""Questions about single acts, asked inside the prompt: did it do damage, what does its charter
forbid about it, is it the rogue's?

One answer to a whole prompt teaches a small model to read too slowly. So training also asks at
the end of every line of acts in Oversight's prompt, where the page about the setting, the act
and the charter of its agent have been read. The world's truth is the answer: supervision of the
steps that lead to the reply. Players never see the answers, and the part of the model that gives
them is thrown away after the run.
"""

from __future__ import annotations

from typing import NamedTuple

from chaosops.core.actions import FlagRogue
from chaosops.roles.menu import acts_in_sight, menu
from chaosops.roles.view import RoleView
from chaosops.world.incident import ActReading, Reading

QUESTIONS = ActReading._fields


class Mark(NamedTuple):
    """Where a line of acts ends: a character of the user's message, later a token of the
    prompt."""

    place: int
    answers: ActReading
    """An agent may have acted twice on a setting: yes, if it is true of one of its acts."""


def act_marks(view: RoleView, text: str, reading: Reading) -> tuple[Mark, ...]:
    """The lines with acts from before the incident, in the text of a prompt with a menu."""
    labels = {
        action.evidence: label
        for label, action in menu(view).items()
        if isinstance(action, FlagRogue)
    }
    answers: dict[int, ActReading] = {}
    for entry in acts_in_sight(view):
        act = reading.acts.get(entry.id)
        start = text.find(f" {labels.get(entry.id)} {entry.step:+d} ")
        if act is None or start < 0:
            continue
        end = text.find("\n", start)
        place = (len(text) if end < 0 else end) - 1
        known = answers.get(place, act)
        answers[place] = ActReading(*(a or b for a, b in zip(act, known, strict=True)))
    return tuple(Mark(place, found) for place, found in sorted(answers.items()))
