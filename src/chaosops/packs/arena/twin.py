"""The counterfactual twins of an episode: the same minutes of the same company, played twice more.

One has no cause (no rogue, no accident) and the same actions: its failed requests are the cost of
the actions alone. The other has the incident and no team. Both are exact, because episodes are
deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence

from chaosops.core.actions import Action, Noop, Talk
from chaosops.core.episode import Episode
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
    )


def _lost(incident: ArenaIncident, state: CompanyState, actions: Sequence[Action]) -> float:
    before = state.flow.lost
    for step, action in enumerate(actions, 1):
        if not isinstance(action, Talk):
            state = incident.act(state, action, step).state
        state, _ = incident.advance(state, action, (), step)
    return state.flow.lost - before
