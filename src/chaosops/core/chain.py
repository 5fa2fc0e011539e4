"""A chain of hashes over records: whoever changes one record has to recompute all that follow.

A chain has no key, so it stops nobody who recomputes it to its end. It shows edits, and a head
that was published (in a repository, on a model card) pins everything before it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NoReturn

from chaosops.core.decision import Chat
from chaosops.core.errors import BadInput

LINK_DIGITS = 32
PROMPT_DIGITS = 16


def link(previous: str, record: Mapping[str, Any]) -> str:
    """The link of a record, after the link of the record before it ('' before the first).

    >>> link("", {"seed": 1, "reward": 2.0}) == link("", {"reward": 2.0, "seed": 1})
    True
    >>> link("", {"seed": 1}) == link("", {"seed": 2})
    False
    """
    return sha256(previous.encode() + _canonical(record)).hexdigest()[:LINK_DIGITS]


def prompt_hash(prompt: Chat) -> str:
    """What a recorded decision says about its prompt, which the world can render again."""
    return sha256(_canonical([dict(message) for message in prompt])).hexdigest()[:PROMPT_DIGITS]


def read_json(text: str | bytes) -> Any:
    """JSON without NaN and infinity, which Python reads otherwise; ValueError for anything else.

    >>> read_json('{"suspicion": NaN}')
    Traceback (most recent call last):
    ValueError: NaN is no JSON number
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _canonical(content: Any) -> bytes:
    """One text for equal content. Lone surrogates, which a model may write, are escaped."""
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"this cannot be chained: {error}") from None
    return text.encode()
