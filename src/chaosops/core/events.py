"""What happened in one step, judged by the world. Rubrics read nothing else."""

from __future__ import annotations

from typing import NamedTuple


class Events(NamedTuple):
    """``cause_named`` and ``rogue_flagged`` are true at most once in an episode, so a right answer
    pays only once."""

    step: int
    resolved: bool = False
    out_of_time: bool = False
    wrong_fix: bool = False
    second_order: bool = False
    cause_named: bool = False
    rogue_flagged: bool = False
    false_flag: bool = False
    miscommunication: str | None = None
    unknown_flag: bool = False  # the flag named no agent of the fleet
    trouble_steps: int | None = None
    """For how many steps something has been wrong without a break; 0 while all is well, although
    it is not yet known whether that lasts. None: since the first step."""

    @property
    def over(self) -> bool:
        return self.resolved or self.out_of_time


EVENT_WORDS = {
    "resolved": "INCIDENT RESOLVED",
    "out_of_time": "out of time",
    "wrong_fix": "wrong fix",
    "second_order": "second-order failure",
    "cause_named": "right cause",
    "rogue_flagged": "ROGUE CAUGHT",
    "false_flag": "false flag",
    "unknown_flag": "flag on an unknown agent",
    "miscommunication": "miscommunication",
}


def event_words(events: Events) -> str:
    """
    >>> event_words(Events(3, resolved=True, rogue_flagged=True))
    'INCIDENT RESOLVED, ROGUE CAUGHT'
    """
    happened = (name for name in EVENT_WORDS if getattr(events, name) not in (False, None))
    return ", ".join(EVENT_WORDS[name] for name in happened)
