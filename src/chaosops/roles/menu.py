"""A menu: the actions a role can choose from, each with a short label.

A label has the same verb and place on every turn. The first label of ``restart`` is always the
first service offered. In a company with many services the menu offers the urgent ones. A rulebook
may ask for labels and rows in an order of its own, so that a label means nothing elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from chaosops.core.actions import VERBS, Action, FlagRogue, Scale
from chaosops.core.labels import label
from chaosops.core.rules import Rulebook
from chaosops.core.telemetry import TraceEntry
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

    def by_amount(self) -> Iterable[Row]:
        """A row for each amount, where the choices are a service and an amount: the amount stands
        once."""
        if VERBS[self.verb] is not Scale:
            return (self,)
        amounts: dict[str, list[tuple[str, str, Action]]] = {}
        for name, words, action in self.choices:
            service, _, amount = words.partition(" ")
            amounts.setdefault(f"{self.verb} {amount}", []).append((name, service, action))
        return [Row(verb, tuple(choices)) for verb, choices in amounts.items()]


def constant_rows(rules: Rulebook, role: Role) -> tuple[Row, ...]:
    """Rows that are the same on every turn."""
    return tuple(row for row in _rows(rules, role, (), ()) if row.choices)


def changing_rows(view: RoleView) -> tuple[Row, ...]:
    """Rows about services and acts, in a company where those on offer change."""
    layout = layout_of(view.rules)
    if layout.urgent is None:
        return ()
    offered = tuple(layout.urgent(view)[: layout.offered])
    rows = _rows(view.rules, view.role, offered, acts_in_sight(view))
    fixed = {row.verb for row in constant_rows(view.rules, view.role)}
    return tuple(row for row in rows if row.choices and row.verb not in fixed)


def acts_in_sight(view: RoleView) -> tuple[TraceEntry, ...]:
    """The acts that a flag can name; none where flags name agents alone."""
    layout = layout_of(view.rules)
    return tuple(layout.in_sight(view)[: layout.acts_offered]) if layout.in_sight else ()


@lru_cache(maxsize=4096)
def constant_labels(rules: Rulebook, role: Role) -> dict[Action, str]:
    """Action -> label, of rows that are the same on every turn. A prompt may show labels beside
    the evidence, so that the evidence holds the reply."""
    return _labels(constant_rows(rules, role))


def labels(view: RoleView, changing: tuple[Row, ...]) -> dict[Action, str]:
    """Action -> label, of the whole menu."""
    constant = constant_labels(view.rules, view.role)
    return {**constant, **_labels(changing)} if changing else constant


def _labels(rows: tuple[Row, ...]) -> dict[Action, str]:
    return {action: name for row in rows for name, _, action in row.choices}


def menu(view: RoleView) -> dict[str, Action]:
    """Label -> action."""
    rows = (*constant_rows(view.rules, view.role), *changing_rows(view))
    return {label: action for row in rows for label, _, action in row.choices}


@lru_cache(maxsize=4096)
def _rows(
    rules: Rulebook, role: Role, offered: tuple[str, ...], acts: tuple[TraceEntry, ...]
) -> tuple[Row, ...]:
    groups = []
    layout = layout_of(rules)
    for verb, group in zip(rules.verbs[role], rules.menu(role), strict=True):
        shown, places = list(group), len(group)
        targets = [a.name for a in VERBS[verb].arguments if a.names == "service"]
        if layout.offered and rules.services and targets:
            shown = [a for service in offered for a in group if getattr(a, targets[0]) == service]
            # Room for every service that may be offered, so that labels keep their meaning.
            places = layout.offered * len(group) // len(rules.services)
        elif layout.acts_offered and VERBS[verb] is FlagRogue:
            shown = [FlagRogue(act.agent, evidence=act.id) for act in acts]
            places = layout.acts_offered
        groups.append((verb, shown, places))
    order = rules.menu_order(role)
    name = label if order is None else order.label
    rows, place = {}, 0
    for verb, shown, places in groups:
        choices = [(name(place + i), action.words, action) for i, action in enumerate(shown)]
        rows[verb] = Row(verb, tuple(choices))
        place += places
    return tuple(rows.values() if order is None else [rows[verb] for verb in order.verbs])
