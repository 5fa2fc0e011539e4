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
