"""The counterfactual twins of an episode: the same minutes of the same company, played again.

One has no cause (no rogue, no accident) and the same actions: its failed requests are the cost of
the actions alone. One has the incident and no team. In the last one Oversight flags the rogue one
round earlier. All are exact, because episodes are deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.core.actions import Action, Noop, Talk
from chaosops.core.episode import Episode
from chaosops.core.vocabulary import Role
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.state import CompanyState
from chaosops.world.incident import Twin


def twin_of(incident: ArenaIncident, episode: Episode) -> Twin:
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
        _lost_with_earlier_flag(incident, episode, actions),
    )


def _lost_with_earlier_flag(
    incident: ArenaIncident, episode: Episode, actions: Sequence[Action]
) -> float | None:
    """The flag takes the place of what Oversight did on its turn before. All else stays."""
    flagged = (i for i, turn in enumerate(episode.turns) if turn.events.rogue_flagged)
    place = next(flagged, None)
    if place is None or place < len(Role):
        return None
    moved = list(actions)
    moved[place - len(Role)], moved[place] = moved[place], Noop()
    return _lost(incident, incident.first_state(), moved)


def _lost(incident: ArenaIncident, state: CompanyState, actions: Sequence[Action]) -> float:
    before = state.flow.lost
    for step, action in enumerate(actions, 1):
        if not isinstance(action, Talk):
            state = incident.act(state, action, step).state
        state, _ = incident.advance(state, action, (), step)
    return state.flow.lost - before
