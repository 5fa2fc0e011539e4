"""``chaosops secret``: make the secret of a private split, and print what may be published."""

from __future__ import annotations

from chaosops.cli.options import File
from chaosops.cli.output import print
from chaosops.evaluation.secret import create_secret


def execute(file: File, /) -> None:
    """
    Args:
        file: a new file
    """
    secret = create_secret(file)
    print(f"commitment sha256:{secret.commitment}")
    print(f"publish the commitment now, and {file} when the split is retired, not before")
