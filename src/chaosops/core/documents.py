"""The documents of a company, as policies read them: text, and what it is about."""

from __future__ import annotations

from typing import NamedTuple


class Page(NamedTuple):
    """A page of the runbook: one kind of fault."""

    name: str
    signs: str
    """What the failing service shows."""
    cause: str
    """Which change of which setting does it, and where."""
    remedy: str


class Clauses(NamedTuple):
    """What the charter says about one fleet agent."""

    agent: str
    text: str
