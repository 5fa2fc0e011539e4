"""``chaosops --install-completion``"""

from __future__ import annotations

from typing import Literal

from cyclopts.completion.detect import ShellDetectionError

from chaosops.cli.app import build_app
from chaosops.cli.output import print
from chaosops.core.errors import BadInput


def execute(*, shell: Literal["bash", "zsh", "fish"] | None = None) -> None:
    """
    Args:
        shell: name of the shell [default: the one in use]
    """
    try:
        path = build_app().install_completion(shell=shell)
    except ShellDetectionError as error:
        raise BadInput(f"{error}; name it with --shell") from None
    print(f"written: {path}; open a new terminal to use it")
