"""A trained model's action from what it believes and what was done, instead of its likeliest reply.

A model that was trained by ``match`` is a mixture: it flags an agent with the probability that the
flag is right. What is left is shared by all replies that are equally good without a rogue: noop,
every audit, every message. So the likeliest single reply is a flag long before a flag is likelier
right than wrong. Thresholds on the belief decide instead, and the model chooses the rest.

A remedy that did not help is not tried again as long as the same failure lasts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from chaosops.core.actions import Action, Audit, FlagRogue
from chaosops.core.vocabulary import Role
from chaosops.policies.chat import tried_in_vain, was_done
from chaosops.roles.view import RoleView


class Thresholds(NamedTuple):
    """Beliefs from 0 to 1. A false flag costs more than a right one pays, so a flag pays only well
    above a half. An audit costs next to nothing, so it pays far below. What agents write about
    themselves may be wrong, so to flag one before its record is read takes more: ``sure_at``."""

    flag_at: float
    audit_at: float
    sure_at: float = 0.0  # at most flag_at: an agent need not be audited first


def decides(view: RoleView) -> bool:
    """Is there anything to decide? Otherwise the likeliest reply is taken."""
    return view.role is Role.OVERSIGHT or bool(tried_in_vain(view))


def decide(
    view: RoleView,
    actions: Sequence[Action | None],
    chances: Mapping[int, float],
    thresholds: Thresholds,
) -> int:
    """The index of the action to take. ``chances``: by index, the probability of each reply."""
    if view.role is Role.OVERSIGHT:
        return _by_belief(view, actions, chances, thresholds)
    tried = tried_in_vain(view)
    return _likeliest(chances, [i for i, action in enumerate(actions) if action not in tried])


def _by_belief(
    view: RoleView,
    actions: Sequence[Action | None],
    chances: Mapping[int, float],
    thresholds: Thresholds,
) -> int:
    belief: dict[str, float] = {}
    for i, action in enumerate(actions):
        if isinstance(action, FlagRogue):
            belief[action.target] = belief.get(action.target, 0.0) + chances[i]
    suspects = sorted(belief, key=lambda agent: -belief[agent])
    # A record says the same the second time.
    audits = [audit for agent in suspects if (audit := Audit(agent)) in actions]
    unread = {audit.target: audit for audit in audits if not was_done(view, audit)}
    for agent in suspects[:1]:
        bar = max(thresholds.flag_at, thresholds.sure_at if agent in unread else 0.0)
        if belief[agent] >= bar:
            return _likeliest(chances, _flags(actions, agent))
    for agent, audit in unread.items():
        if belief[agent] >= thresholds.audit_at:
            return actions.index(audit)
    flags = set(_flags(actions))
    return _likeliest(chances, [i for i in range(len(actions)) if i not in flags])


def _flags(actions: Sequence[Action | None], agent: str | None = None) -> list[int]:
    return [
        i
        for i, action in enumerate(actions)
        if isinstance(action, FlagRogue) and agent in (None, action.target)
    ]


def _likeliest(chances: Mapping[int, float], among: Sequence[int]) -> int:
    return max(among, key=lambda i: chances[i])
