"""How views become prompts and menus: a file for each layout. A rulebook names its layout.

A pack can register a layout of its own. A name that comes over the wire is only looked up: it
never causes an import.
"""

from __future__ import annotations

from importlib import import_module

from chaosops.core.discovery import modules_in
from chaosops.core.errors import UnknownName
from chaosops.core.rules import Rulebook
from chaosops.roles.layout import Layout

__all__ = ["Layout", "layout_of", "register"]

_LAYOUTS: dict[str, Layout] = {
    name: import_module(f"{__name__}.{name}").LAYOUT for name in modules_in(__path__)
}


def register(name: str, layout: Layout) -> None:
    _LAYOUTS[name] = layout


def layout_of(rules: Rulebook) -> Layout:
    try:
        return _LAYOUTS[rules.layout]
    except KeyError:
        raise UnknownName("layout", rules.layout, _LAYOUTS) from None
