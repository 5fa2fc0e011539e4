"""What a policy answers when it is its role's turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from chaosops.core.actions import Action


class Decision(NamedTuple):
    """A policy's answer: the action, and what else it has to say about it."""

    action: Action
    reply: str | None = None
    suspicion: Mapping[str, float] | None = None
