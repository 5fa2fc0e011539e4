"""Suspicion from the probabilities of a menu's labels, as a server tells them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chaosops.core.actions import Action
from chaosops.policies.chat import suspicion_of
from chaosops.policies.llm.formats import label_of
from chaosops.roles.view import RoleView


def has_whole_labels(first: Mapping[str, float], reply: str, labels: Iterable[str]) -> bool:
    """Whether the first tokens are whole labels. Otherwise one could begin several of them."""
    longer = [label for label in labels if len(label) > 1]
    return not longer or (label_of(reply) in first and any(label in first for label in longer))


def weigh_flags(
    view: RoleView, first: Mapping[str, float], replies: Mapping[str, Action]
) -> dict[str, float] | None:
    total = sum(weight for word, weight in first.items() if word in replies)
    if not total > 0:
        return None
    weighed = ((action, first.get(label, 0.0) / total) for label, action in replies.items())
    return suspicion_of(view, weighed)
