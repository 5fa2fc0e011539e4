"""The command that a manifest names."""

from __future__ import annotations

import shlex

from chaosops.cli.budget import BUDGET_OPTIONS


def repeatable(command_line: str) -> str:
    """The command without options that change no file: an evaluation that was resumed, stopped by
    a budget, or played by workers, writes the same as any other.

    >>> repeatable("chaosops eval --resume --out 'my results' --workers 2 --ray=auto --seeds 3")
    "chaosops eval --out 'my results' --seeds 3"
    """
    with_value = ("--workers", "--ray", "--gpus", *BUDGET_OPTIONS)
    kept = []
    words = iter(shlex.split(command_line))
    for word in words:
        if word in with_value:
            next(words, None)
        elif word.partition("=")[0] not in ("--resume", "--force", *with_value):
            kept.append(word)
    return shlex.join(kept)
