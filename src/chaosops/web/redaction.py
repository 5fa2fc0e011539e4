"""Error texts for visitors: they say what is wrong, without the server's paths."""

from __future__ import annotations

import re
from pathlib import Path

# Folder names may hold spaces. A URL such as http://host/path is not a path.
_FOLDERS = re.compile(r"""(?<![\w:/.~])(?:~[\w-]*|\.{1,2})?/(?=\S)(?:[^/;:,'"()\n]+/)*""")


def redact_paths(text: str) -> str:
    """Cut paths to the names of their files.

    >>> redact_paths("no adapter: /srv/my models/a/adapter.gguf does not exist; see http://a/b")
    'no adapter: adapter.gguf does not exist; see http://a/b'
    >>> redact_paths("'~/.cache/hub' or ../runs/last/adapter: either/or")
    "'hub' or adapter: either/or"
    """
    return _FOLDERS.sub("", text)


def unreadable(error: Exception) -> str:
    """Say why a file cannot be shown."""
    words = str(error)
    if isinstance(error, OSError) and error.filename:
        words = f"{error.strerror}: {Path(str(error.filename)).name}"
    return f"cannot be read: {type(error).__name__}: {redact_paths(words)}"
