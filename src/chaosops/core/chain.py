"""A chain of hashes over records, and the JSON that they are written in.

Each link depends on all records before it, so an edited record breaks the chain. There is no key:
anybody can recompute a whole chain. A published head (in a repository, on a model card) pins all
records before it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NoReturn

from chaosops.core.decision import Chat
from chaosops.core.errors import BadInput

LINK_DIGITS = 32
PROMPT_DIGITS = 16
MOST_DIGITS = 20  # a 64-bit number with its sign


def link(previous: str, record: Mapping[str, Any]) -> str:
    """The link of a record. ``previous`` is the link before it, '' for the first record.

    >>> link("", {"seed": 1, "reward": 2.0}) == link("", {"reward": 2.0, "seed": 1})
    True
    >>> link("", {"seed": 1}) == link("", {"seed": 2})
    False
    """
    return sha256(previous.encode() + _canonical(record)).hexdigest()[:LINK_DIGITS]


def prompt_hash(prompt: Chat) -> str:
    """Stands for a prompt in recordings; the prompt itself can be rendered again."""
    return sha256(_canonical([dict(message) for message in prompt])).hexdigest()[:PROMPT_DIGITS]


def read_json(text: str | bytes) -> Any:
    """Read strict JSON. NaN, infinity, numbers beyond a double or 64 bits and repeated names in an
    object raise ValueError.

    >>> read_json('{"suspicion": NaN}')
    Traceback (most recent call last):
    ValueError: NaN is not a JSON number
    """
    try:
        return json.loads(
            text,
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=_bounded,
            object_pairs_hook=_unrepeated,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _bounded(text: str) -> int:
    if len(text) > MOST_DIGITS or not -(2**63) <= (number := int(text)) < 2**63:
        raise ValueError(f"a whole number of {len(text)} digits is too large")
    return number


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{twice[:40]!a} occurs twice in one object")
    return content


def _canonical(content: Any) -> bytes:
    """The same bytes for equal content. Lone surrogates, which a model may write, are escaped."""
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"this record cannot be hashed: {error}") from None
    return text.encode()
