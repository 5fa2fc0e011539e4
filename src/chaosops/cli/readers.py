"""How words of the command line are read."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NoReturn

from chaosops.cli.output import print
from chaosops.core.printable import one_line


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(one_line(f"{self.prog}: {message} (see {self.prog} --help)"), file=sys.stderr)
        raise SystemExit(2)


_MOST = 1_000_000  # of anything that is counted: more is a slip of the hand


def whole(least: int, most: int = _MOST) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            shown = text if len(text) <= 60 else text[:57] + "..."
            raise argparse.ArgumentTypeError(
                f"expected a whole number from {least} to {most}, got {shown!r}"
            )
        return value

    return read


seed = whole(0, 2**63 - 1)


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"expected seconds from 0 to 3600, got {text!r}")
    return value


def some_seconds(text: str) -> float:
    value = seconds(text)
    if value == 0:
        raise argparse.ArgumentTypeError("expected more than 0 seconds")
    return value


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
