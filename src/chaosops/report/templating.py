"""Jinja as every page and document here uses it."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from chaosops.core.printable import printable


def templates(package: str, *, html: bool = True) -> Environment:
    """The templates of a package. Control characters in values are replaced; in HTML, values are
    escaped too."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=html,
        undefined=StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else printable(str(value)),
        trim_blocks=True,
        lstrip_blocks=True,
    )
