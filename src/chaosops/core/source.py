"""Which commit this code is of."""

from __future__ import annotations

import subprocess
from pathlib import Path

# The file in a package without its repository: it holds the commit of the package.
PACKED_COMMIT = "COMMIT"


def source_commit() -> str | None:
    """The commit of the checkout this package runs from, '+dirty' with local changes."""
    here = Path(__file__).resolve().parent
    packed = here.parent / PACKED_COMMIT
    if packed.is_file():
        return packed.read_text(encoding="utf-8").strip()

    def git(*words: str) -> str | None:
        command = ["git", "-C", str(here), *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip()

    # An installed copy may lie inside somebody else's repository.
    if git("ls-files", "--error-unmatch", str(Path(__file__).resolve())) is None:
        return None
    commit = git("rev-parse", "HEAD")
    if commit is None:
        return None
    return commit + ("+dirty" if git("status", "--porcelain", "--", str(here.parent)) else "")
