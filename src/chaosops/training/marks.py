"""Questions about single acts, asked inside the prompt: did it do damage, does its charter forbid
it, is it the rogue's?

One answer to a whole prompt teaches a small model to read too slowly. So training also asks at
the end of every act in Oversight's prompt, with the world's truth as the answer: supervision of
the steps that lead to the reply. Players never see the answers, and the part of the model that
gives them is thrown away after the run.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from chaosops.roles.menu import acts_in_sight
from chaosops.roles.view import RoleView
from chaosops.world.incident import ActReading, Reading

QUESTIONS = ActReading._fields


class Mark(NamedTuple):
    """The place where an act ends: a character of the user's message, later a token of the
    prompt."""

    place: int
    answers: ActReading


def act_marks(view: RoleView, text: str, reading: Reading) -> tuple[Mark, ...]:
    """A mark for each act in sight from before the incident, in the text of the prompt."""
    marks = []
    searched: dict[str, int] = {}
    for entry in acts_in_sight(view):
        words = f"{entry.step:+d} {entry.agent} "
        # An agent may have acted twice in a minute. Acts stand in the order of the menu.
        found = re.compile(re.escape(words) + r"[^;\n]*").search(text, searched.get(words, 0))
        if found is None:
            continue
        searched[words] = found.end()
        if entry.id in reading.acts:
            marks.append(Mark(found.end() - 1, reading.acts[entry.id]))
    return tuple(marks)
