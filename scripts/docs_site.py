"""A hook of mkdocs for pages of the site that are kept outside docs/, and for links to them.

In the repository, pages link to files. On the site, a link to a file that is not a page becomes
plain text. Examples in docstrings are shown as code.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
# Page of the site -> file of the repository.
OUTSIDE = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "experiments.md": "experiments/LOG.md",
    "model_card.md": "src/chaosops/trained/README.md",
    "learning_curve.png": "src/chaosops/trained/training/reading_fourth/learning_curve.png",
}
PAGES = {source: page for page, source in OUTSIDE.items()}
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def on_files(files: Files, config: Any) -> Files:
    for page, source in OUTSIDE.items():
        if not page.endswith(".md"):
            files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
            continue
        text = FRONT_MATTER.sub("", (ROOT / source).read_text(encoding="utf-8"))
        files.append(File.generated(config, page, content=site_links(text, source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    source = page.file.src_uri
    return markdown if source in OUTSIDE else site_links(markdown, f"docs/{source}")


def site_links(text: str, source: str) -> str:
    """
    >>> site_links("[card](../src/chaosops/trained/README.md#use)", "docs/arena.md")
    '[card](model_card.md#use)'
    >>> site_links("[the notebook](notebooks/train.ipynb)", "README.md")
    'the notebook (`notebooks/train.ipynb`)'
    """
    return LINK.sub(lambda found: _link(source, *found.groups()), text)


def _link(source: str, image: str, words: str, target: str) -> str:
    address, _, anchor = target.partition("#")
    if not address or "://" in address or address.startswith("mailto:"):
        return f"{image}[{words}]({target})"
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), address))
    page = PAGES.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
    if page is None:
        return f"{words} (`{path}`)"
    return f"{image}[{words}]({page}{'#' if anchor else ''}{anchor})"


class FencedExamples(griffe.Extension):
    """mkdocstrings shows a doctest without a heading as a quotation; this makes it code."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(docstring: str) -> str:
    r"""
    >>> fenced("Adds.\n\n>>> 1 + 1\n2")
    'Adds.\n\n```pycon\n>>> 1 + 1\n2\n```'
    """
    return EXAMPLE.sub(lambda found: f"```pycon\n{found.group()}\n```", docstring)
