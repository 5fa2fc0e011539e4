"""The ``chaosops`` command. A mistake of the user is one line on stderr and exit code 2."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from collections.abc import Sequence

from chaosops.cli.commands import overview
from chaosops.cli.output import prepare_streams, print
from chaosops.core.errors import ChaosOpsError
from chaosops.core.printable import one_line


def main(argv: Sequence[str] | None = None) -> int:
    prepare_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        status = _run(words)
        sys.stdout.flush()  # a full disk or a closed pipe shows here, not at exit
    except ChaosOpsError as error:
        print(one_line(f"chaosops: {error}"), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("chaosops: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has closed the pipe. Python would report it again on exit.
        _let_stdout_go()
        return 0
    except OSError as error:
        # Errors of the machine, such as a full disk or a missing folder.
        named = "" if error.filename is None else f"{error.filename}: "
        print(one_line(f"chaosops: {named}{error.strerror or error}"), file=sys.stderr)
        if error.errno in (errno.ENOSPC, errno.EIO):  # stdout may be a file on that disk
            _let_stdout_go()
        return 2
    return status


def _run(words: list[str]) -> int:
    if words in (["--help"], ["-h"]):
        print(overview())
        return 0
    from chaosops.cli.app import parse

    command, bound, injected = parse(words)
    if "command_line" in injected:  # for the manifest of what the command writes
        bound.arguments["command_line"] = shlex.join(["chaosops", *words])
    return command(*bound.args, **bound.kwargs) or 0


def _let_stdout_go() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
