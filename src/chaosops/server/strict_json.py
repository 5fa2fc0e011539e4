"""JSON as everything behind the door can stand it.

Python's reader takes NaN, lone surrogates and nesting to the edge of its stack, none of which
can be written out again; so an answer that quotes them would fail instead of the message.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from chaosops.core.errors import BadInput

MAX_DEPTH = 32


class BadJson(BadInput):
    """JSON that cannot be answered."""


class NotJson(BadJson):
    """Text that is no JSON at all."""


def read_json(text: str) -> Any:
    """
    >>> read_json('{"seed": NaN}')
    Traceback (most recent call last):
    chaosops.server.strict_json.BadJson: NaN is no JSON number
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise NotJson(f"this is not JSON ({error.msg}, {place})") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:  # a number of thousands of digits
        raise BadJson(f"this JSON cannot be read: {error}") from None
    if text.count("{") + text.count("[") > MAX_DEPTH:
        _check_depth(value)
    if "\\u" in text:
        _check_text(value)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise BadJson(f"{name} is no JSON number")


def _too_deep() -> BadJson:
    return BadJson(f"the JSON is nested more than {MAX_DEPTH} deep")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        if not inner:
            return
        level = inner
    raise _too_deep()


def _check_text(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadJson("the JSON holds half of a character (a lone surrogate)") from None
