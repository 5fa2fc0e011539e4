"""Takes off what a model writes before its answer: reasoning in tags, prose, code fences."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from chaosops.roles.parse import MAX_REPLY_CHARS

_NAMES = "think|thinking|thought|reasoning"
_OPENS = re.compile(rf"\s*(?:<(?:{_NAMES})>|\[THINK\])", re.IGNORECASE)
_CLOSES = re.compile(rf"</(?:{_NAMES})>|\[/THINK\]", re.IGNORECASE)
_FENCE = re.compile(r"```(?:json)?\s*\Z")
_DECODER = json.JSONDecoder()


class Split(NamedTuple):
    answer: str
    reasoning_chars: int = 0


def end_of_reasoning(text: str) -> int:
    """Where the answer begins: after the last closing tag. A chat template may write the opening
    tag, so that a reply has the closing one alone. A tag that is never closed leaves no answer.

    >>> "<think>Who?</think>B"[end_of_reasoning("<think>Who?</think>B"):]
    'B'
    """
    ends = [match.end() for match in _CLOSES.finditer(text)]
    if ends:
        return ends[-1]
    return len(text) if _OPENS.match(text) else 0


def split_reasoning(text: str) -> Split:
    """
    >>> split_reasoning("Who was it?</think> B")
    Split(answer=' B', reasoning_chars=11)
    >>> split_reasoning("<think>Who was it? Perhaps")
    Split(answer='', reasoning_chars=19)
    """
    if _is_object(text):  # its strings may hold tags
        return Split(text)
    end = end_of_reasoning(text)
    return Split(text[end:], _length(text[:end]))


def split_prose(text: str) -> Split:
    """The JSON object that ends the text. Without one, the text stays as it is: text after an
    object is an error that the model is told of.

    >>> split_prose('It waits. {"action":"noop"}')
    Split(answer='{"action":"noop"}', reasoning_chars=9)
    """
    # An answer can only be at the end, and an object that is too long is refused anyway.
    tail = text[-2 * MAX_REPLY_CHARS :].rstrip()
    tail = tail.removesuffix("```").rstrip()
    for match in re.finditer(r"\{", tail):
        if _object_at(tail, match.start()):
            answer = tail[match.start() :]
            before = text[: text.rindex(answer)]
            if not before.strip():  # white space counts: a reply may be too long by it
                break
            return Split(answer, len(_FENCE.sub("", before.strip()).strip()))
    return Split(text)


def _length(reasoning: str) -> int:
    """The characters without the tags."""
    inside = _OPENS.sub("", reasoning, count=1)
    return len(_CLOSES.sub("", inside).strip())


def _is_object(text: str) -> bool:
    stripped = text.strip()
    return stripped.startswith("{") and _object_at(stripped, 0)


def _object_at(text: str, start: int) -> bool:
    """Whether an object begins here and ends with the text."""
    try:
        found, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return end == len(text) and isinstance(found, dict)
