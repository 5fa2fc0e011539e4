"""What a pack may choose about its prompts and menus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from chaosops.core.rules import Rulebook
from chaosops.roles.view import RoleView


class Layout(NamedTuple):
    body: Callable[[RoleView, Mapping[str, str]], list[str]]
    """The lines between the step and the chat. The mapping has the menu's labels of agents."""
    introduction: Callable[[Rulebook], list[str]]
    """Names that a JSON reply may need, for the constant part of the prompt."""
    urgent: Callable[[RoleView], Sequence[str]] | None = None
    """The services that a menu offers, most urgent first. None: it always offers all."""
    offered: int = 0
    """How many services a menu offers."""
    numbers_entries: bool = False
    """The trace shows numbers, which a flag may cite as evidence."""
    suspicion: bool = False
    """Oversight's suspicion of each agent is measured."""
