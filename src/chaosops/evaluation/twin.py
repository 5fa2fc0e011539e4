"""The counterfactual twin: the same minutes of the same company, had it gone otherwise.

Determinism makes it exact. Without the cause (no rogue, no accident) and with the same
actions of the team, what is lost is the price of the actions alone; without the team, it is
what the incident would have cost if nobody had come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chaosops.core.actions import Action, Noop, Talk
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.packs.arena import PACK
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.state import CompanyState


class Twin(NamedTuple):
    """Requests of users that failed from the first step on."""

    lost: float
    lost_without_cause: float
    lost_without_team: float

    @property
    def blast_radius(self) -> float:
        """What the incident cost, beyond what would have been lost anyway."""
        return self.lost - self.lost_without_cause

    @property
    def averted(self) -> float:
        """What the team saved, over the same minutes."""
        return self.lost_without_team - self.lost


def twin_of(episode: Episode) -> Twin:
    if episode.scenario.pack != "arena":
        raise BadInput("only arena episodes have a twin: the classic pack counts no requests")
    incident = PACK.incident(episode.scenario)
    actions = [
        turn.decision.action if turn.events.miscommunication is None else Noop()
        for turn in episode.turns
    ]
    innocent = incident._replace(plot=incident.plot._replace(rogue=None))
    nobody: list[Action] = [Noop()] * len(actions)
    return Twin(
        _lost(incident, incident.first_state(), actions),
        _lost(innocent, incident.without_cause(), actions),
        _lost(incident, incident.first_state(), nobody),
    )


def _lost(incident: ArenaIncident, state: CompanyState, actions: Sequence[Action]) -> float:
    before = state.flow.lost
    for step, action in enumerate(actions, 1):
        if not isinstance(action, Talk):
            state = incident.act(state, action, step).state
        state, _ = incident.advance(state, action, (), step)
    return state.flow.lost - before
