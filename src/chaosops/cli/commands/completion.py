"""``chaosops --install-completion``"""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.completion.detect import ShellDetectionError

from chaosops.cli.app import build_app
from chaosops.cli.output import print
from chaosops.core.errors import BadInput

Shell = Literal["bash", "zsh", "fish"]


def execute(
    *, shell: Annotated[Shell | None, Parameter(show_default="the one in use")] = None
) -> int:
    try:
        path = build_app().install_completion(shell=shell)
    except ShellDetectionError as error:
        raise BadInput(f"{error}; name it with --shell") from None
    print(f"written: {path}; open a new terminal to use it")
    return 0
