"""The ``chaosops`` command. A mistake of the user is one line on stderr and exit code 2."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from collections.abc import Sequence

from chaosops.cli.parser import build_parser
from chaosops.core.errors import ChaosOpsError


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    args = build_parser().parse_args(words)
    args.command_line = shlex.join(["chaosops", *words])
    try:
        status: int = args.execute(args)
        sys.stdout.flush()
    except ChaosOpsError as error:
        print(f"chaosops: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("chaosops: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has seen enough. Python would complain again on exit.
        _let_stdout_go()
        return 0
    except OSError as error:
        named = "" if error.filename is None else f"{error.filename}: "
        print(f"chaosops: {named}{error.strerror or error}", file=sys.stderr)
        if error.errno in (errno.ENOSPC, errno.EIO):  # stdout may be a file on that disk
            _let_stdout_go()
        return 2
    return status


def _let_stdout_go() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
