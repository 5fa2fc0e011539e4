"""The ``chaosops`` command. A mistake of the user is one line on stderr and exit code 2."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from chaosops.cli.parser import build_parser
from chaosops.core.errors import ChaosOpsError


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    args = build_parser().parse_args(words)
    args.command_line = " ".join(["chaosops", *words])
    try:
        status: int = args.execute(args)
    except ChaosOpsError as error:
        print(f"chaosops: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("chaosops: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has seen enough. Python would complain again on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status
