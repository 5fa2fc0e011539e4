"""A menu: the actions a role can choose from, each with a short label.

A label has the same verb and place on every turn. The first label of ``restart`` is always the
first service offered, so a small model can learn the menu once. In a company with many services
the menu offers the deepest failing ones.
"""

from __future__ import annotations

from functools import lru_cache
from string import ascii_letters
from typing import NamedTuple

from chaosops.core.actions import VERBS, Action, FlagRogue
from chaosops.core.rules import Rulebook
from chaosops.core.vocabulary import Role
from chaosops.roles.layouts import layout_of
from chaosops.roles.view import RoleView


class Row(NamedTuple):
    """The choices of one verb: (label, words, action)."""

    verb: str
    choices: tuple[tuple[str, str, Action], ...]

    def __str__(self) -> str:
        return f"{self.verb}: " + ", ".join(
            f"{label} {words}" if words else label for label, words, _ in self.choices
        )


def label(place: int) -> str:
    """
    >>> label(0), label(51), label(52)
    ('A', 'z', 'AA')
    """
    letters = len(ascii_letters)
    if place < letters:
        return _LETTERS[place]
    return label(place // letters - 1) + _LETTERS[place % letters]


_LETTERS = ascii_letters[26:] + ascii_letters[:26]


def constant_rows(rules: Rulebook, role: Role) -> tuple[Row, ...]:
    """Rows that are the same on every turn."""
    return tuple(row for row in _rows(rules, role, ()) if row.choices)


def changing_rows(view: RoleView) -> tuple[Row, ...]:
    """Rows about services, in a company where those on offer change."""
    layout = layout_of(view.rules)
    if layout.urgent is None:
        return ()
    offered = tuple(layout.urgent(view)[: layout.offered])
    rows = _rows(view.rules, view.role, offered)
    fixed = {row.verb for row in constant_rows(view.rules, view.role)}
    return tuple(row for row in rows if row.choices and row.verb not in fixed)


@lru_cache(maxsize=4096)
def agent_labels(rules: Rulebook, role: Role) -> dict[str, str]:
    """Agent -> the label that flags it. The prompt shows it beside the agent's acts, so that the
    evidence names the reply."""
    return {
        action.target: name
        for row in constant_rows(rules, role)
        for name, _, action in row.choices
        if isinstance(action, FlagRogue)
    }


def menu(view: RoleView) -> dict[str, Action]:
    """Label -> action."""
    rows = (*constant_rows(view.rules, view.role), *changing_rows(view))
    return {label: action for row in rows for label, _, action in row.choices}


@lru_cache(maxsize=4096)
def _rows(rules: Rulebook, role: Role, offered: tuple[str, ...]) -> tuple[Row, ...]:
    rows = []
    place = 0
    columns = layout_of(rules).offered
    for verb, group in zip(rules.verbs[role], rules.menu(role), strict=True):
        shown, places = list(group), len(group)
        targets = [a.name for a in VERBS[verb].arguments if a.names == "service"]
        if columns and rules.services and targets:
            shown = [a for service in offered for a in group if getattr(a, targets[0]) == service]
            # Room for every service that may be offered, so that labels keep their meaning.
            places = columns * len(group) // len(rules.services)
        choices = [(label(place + i), action.words, action) for i, action in enumerate(shown)]
        rows.append(Row(verb, tuple(choices)))
        place += places
    return tuple(rows)
