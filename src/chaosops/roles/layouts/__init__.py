"""How views become prompts and menus. A rulebook names its layout.

A pack with a layout of its own registers it. A name that comes over the wire is only looked
up: it never causes an import.
"""

from __future__ import annotations

from chaosops.core.errors import UnknownName
from chaosops.core.rules import Rulebook
from chaosops.roles.layouts import arena, classic
from chaosops.roles.layouts.layout import Layout

__all__ = ["Layout", "layout_of", "register"]

_LAYOUTS: dict[str, Layout] = {"classic": classic.LAYOUT, "arena": arena.LAYOUT}


def register(name: str, layout: Layout) -> None:
    _LAYOUTS[name] = layout


def layout_of(rules: Rulebook) -> Layout:
    try:
        return _LAYOUTS[rules.layout]
    except KeyError:
        raise UnknownName("layout", rules.layout, _LAYOUTS) from None
