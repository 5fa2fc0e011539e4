"""What a pack may choose about its prompts and menus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from chaosops.core.actions import Action
from chaosops.core.documents import Clauses, Page
from chaosops.core.rules import Rulebook
from chaosops.core.telemetry import TraceEntry
from chaosops.core.vocabulary import Role
from chaosops.roles.view import RoleView


class Selection(NamedTuple):
    """The part of a company's documents and of its trace that belongs to what fails now."""

    acts: Sequence[TraceEntry] = ()
    pages: Sequence[Page] = ()
    clauses: Sequence[Clauses] = ()


class Layout(NamedTuple):
    body: Callable[[RoleView, Mapping[Action, str]], list[str]]
    """The lines between the step and the chat. The mapping has the menu's labels; it is empty
    where replies are JSON."""
    introduction: Callable[[Rulebook, Role, Mapping[Action, str]], list[str]]
    """Lines for the constant part of the prompt, such as the names that a reply may need."""
    urgent: Callable[[RoleView], Sequence[str]] | None = None
    """The services that a menu offers, most urgent first. None: it always offers all."""
    offered: int = 0
    """How many of them."""
    in_sight: Callable[[RoleView], Sequence[TraceEntry]] | None = None
    """The acts that a flag can name in a menu. None: a menu flags agents."""
    acts_offered: int = 0
    """How many of them."""
    relevant: Callable[[RoleView], Selection] | None = None
    """The documents that people see unfolded. None: a company has no documents."""
    written_out: Mapping[str, str] = {}
    """Verbs whose choices stand with their labels elsewhere in the prompt, and what their row
    says instead."""
    rows_by_amount: bool = False
    """A verb with amounts has a row for each of them."""
    chat_lines: int = 6
    """The latest lines of the chat that are shown."""
    chat_without: tuple[type[Action], ...] = ()
    """Actions that are no lines of the chat."""
    numbers_entries: bool = False
    """The trace shows numbers, which a flag may cite as evidence."""
    suspicion: bool = False
    """Oversight's suspicion of each agent is measured."""
