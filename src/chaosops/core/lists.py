"""Lists on the command line."""

from __future__ import annotations

import re

# A comma, or what may hold commas: a string and a pair of brackets, which JSON in a model's name
# consists of.
_STRING = r'"(?:[^"\\]|\\.)*"'
_TOKEN = re.compile(rf"{_STRING}|[\[{{]|[\]}}]|,")


def split_list(text: str) -> list[str]:
    """Split at commas outside of brackets.

    >>> split_list('heuristic,openai:m@http://h/v1+extra={"top_p":0.9,"top_k":20}')
    ['heuristic', 'openai:m@http://h/v1+extra={"top_p":0.9,"top_k":20}']
    """
    parts: list[str] = []
    start = depth = 0
    for match in _TOKEN.finditer(text):
        if match[0] == "," and depth <= 0:
            parts.append(text[start : match.start()])
            start = match.end()
        depth += (match[0] in "[{") - (match[0] in "]}")
    return [*parts, text[start:]]
