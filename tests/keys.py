"""The keys of a company's draws. Whoever has one finds the split and the seed by trying."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chaosops.core.dice import key_of

MOST = 10**6  # no number that a role sees is larger
_DIGITS = re.compile(r"\d{7,}|(?<!\w)(?=[a-f]*\d)[\da-f]{12,}")  # 7 decimal digits, 12 hexadecimal


@contextmanager
def keys_derived() -> Iterator[set[int]]:
    """Every key that is derived meanwhile, by any module."""
    derived = set()

    def noted(*parts: int | str) -> int:
        key = key_of(*parts)
        derived.add(key)
        return key

    users = [
        module
        for name, module in sys.modules.items()
        if name.startswith("chaosops.") and getattr(module, "key_of", None) is key_of
    ]
    for module in users:
        module.key_of = noted  # type: ignore[attr-defined]
    try:
        yield derived
    finally:
        for module in users:
            module.key_of = key_of  # type: ignore[attr-defined]


def large_numbers(value: Any) -> set[str]:
    """Whole numbers in JSON that are large enough to be a key or a part of one, in texts too."""
    if isinstance(value, dict):
        return large_numbers([*value, *value.values()])
    if isinstance(value, list | tuple):
        return set().union(*map(large_numbers, value))
    if isinstance(value, str):
        return set(_DIGITS.findall(value))
    return {str(value)} if isinstance(value, int) and abs(value) > MOST else set()
