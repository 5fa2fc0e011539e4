"""Small pieces of HTML for notebooks: values are escaped, nothing is loaded, nothing runs.

A notebook has its own colours, light or dark, and no page says which. So text takes the colour of
the text around it. The style applies to what has our class, and the class is named twice to come
before the notebook's own. A notebook that is not trusted leaves the style out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from chaosops.core.printable import printable

_STYLE = """<style>
.chaosops.chaosops { overflow-x: auto; font-size: 13px; color: inherit; }
.chaosops.chaosops p { margin: 4px 0; }
.chaosops.chaosops table { border-collapse: collapse; margin: 2px 0 8px; color: inherit; }
.chaosops.chaosops :is(th, td) { text-align: left; vertical-align: top; padding: 2px 14px 2px 0;
  white-space: pre-wrap; overflow-wrap: break-word; max-width: 50em; border: 0; }
.chaosops.chaosops th { border-bottom: 1px solid #8888; font-weight: 600; }
</style>"""


def box(*parts: str) -> str:
    return f'{_STYLE}<div class="chaosops">{"".join(parts)}</div>'


def heading(text: str, note: str = "") -> str:
    said = f" {_shown(note)}" if note else ""
    return f"<p><b>{_shown(text)}</b>{said}</p>"


def paragraph(text: str) -> str:
    return f"<p>{_shown(text)}</p>"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """
    >>> "<td>&lt;b&gt;</td>" in table(["a"], [["<b>"]])
    True
    """
    head = "".join(f"<th>{_shown(text)}</th>" for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{_shown(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def folded(summary: str, content: str) -> str:
    return f"<details><summary>{_shown(summary)}</summary>{content}</details>"


def _shown(value: object) -> str:
    return escape(printable(str(value)))
