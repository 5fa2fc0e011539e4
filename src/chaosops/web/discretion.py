"""What a visitor may be told of an error: what is wrong, not where this server keeps its files."""

from __future__ import annotations

import re
from pathlib import Path

# Folders may have spaces in their names; an address such as http://host/path is left alone.
_FOLDERS = re.compile(r"""(?<![\w:/.~])(?:~[\w-]*|\.{1,2})?/(?=\S)(?:[^/;:,'"()\n]+/)*""")


def without_folders(text: str) -> str:
    """Paths are cut to the names of their files.

    >>> without_folders("no adapter: /srv/my models/a/adapter.gguf does not exist; see http://a/b")
    'no adapter: adapter.gguf does not exist; see http://a/b'
    >>> without_folders("'~/.cache/hub' or ../runs/last/adapter: either/or")
    "'hub' or adapter: either/or"
    """
    return _FOLDERS.sub("", text)


def unreadable(error: Exception) -> str:
    """Why a file cannot be shown."""
    words = str(error)
    if isinstance(error, OSError) and error.filename:
        words = f"{error.strerror}: {Path(str(error.filename)).name}"
    return f"cannot be read: {type(error).__name__}: {without_folders(words)}"
