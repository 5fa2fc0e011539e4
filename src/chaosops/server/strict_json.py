"""Messages of clients: strict JSON of a bounded size and depth.

Python's reader also accepts NaN, lone surrogates and very deep nesting. An answer that quotes them
could not be written.
"""

from __future__ import annotations

import json
from typing import Any

from chaosops.access.pace import MOST_BYTES
from chaosops.core import chain
from chaosops.core.errors import BadInput
from chaosops.server.errors import Refusal

MAX_MESSAGE_BYTES = MOST_BYTES
MAX_DEPTH = 32


class BadJson(BadInput):
    """JSON that an answer could not quote."""


class NotJson(BadJson):
    """Text that is not JSON at all."""


def read_message(text: str | None, example: str) -> dict[str, Any]:
    """The JSON object in a WebSocket's frame; a binary frame has no ``text``."""
    if text is None:
        raise BadJson("send text frames that hold one JSON object, not binary ones")
    if len(text) > MAX_MESSAGE_BYTES:
        raise Refusal("MESSAGE_TOO_LARGE", f"a message may have {MAX_MESSAGE_BYTES} characters")
    content = read_json(text)
    if not isinstance(content, dict):
        raise Refusal("VALIDATION_ERROR", f"send one JSON object such as {example}")
    return content


def read_json(text: str) -> Any:
    """
    >>> read_json('{"seed": NaN}')
    Traceback (most recent call last):
    chaosops.server.strict_json.BadJson: NaN is not a JSON number
    """
    try:
        value = chain.read_json(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise NotJson(f"this is not JSON ({error.msg}, {place})") from None
    except ValueError as error:
        raise BadJson(str(error)) from None
    if text.count("{") + text.count("[") > MAX_DEPTH:
        _check_depth(value)
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise BadJson("the JSON holds half of a character (a lone surrogate)") from None
    return value


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
    raise BadJson(f"the JSON is nested more than {MAX_DEPTH} deep")
