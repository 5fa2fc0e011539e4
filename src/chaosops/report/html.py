"""Jinja as every page here uses it."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from chaosops.core.printable import printable


def html_templates(package: str) -> Environment:
    """The templates of a package. Values are escaped, and control characters are replaced."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else printable(str(value)),
        trim_blocks=True,
        lstrip_blocks=True,
    )
