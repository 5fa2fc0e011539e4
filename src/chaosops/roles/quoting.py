"""Words of other players in a prompt: bounded, on one line, and without control tokens.

A player must not be able to push another's prompt out of its model, to write lines that look like
the world's, or to end a message of the chat template. The bound is in bytes, because no tokenizer
that reads bytes makes more tokens than bytes.
"""

from __future__ import annotations

import re

QUOTED_BYTES = 240
_CUT = " [...]"
# Such as <|im_end|>, </s>, <start_of_turn>, [INST]: what models' templates are written with.
_TAG = re.compile(r"<(\|?[^<>\s]{1,40}?\|?)>|\[(/?[A-Z_]{2,40})\]|<(\|)|(\|)>")


def quoted(text: str, limit: int = QUOTED_BYTES) -> str:
    """
    >>> quoted("restart db,\\nthen <|im_end|> wait")
    'restart db, then (|im_end|) wait'
    >>> quoted("plain words stay: 3 < 4, [sic]")
    'plain words stay: 3 < 4, [sic]'
    >>> len(quoted("\\N{FIRE}" * 2000).encode()) <= QUOTED_BYTES
    True
    """
    if text.isascii() and text.isprintable() and len(text) <= limit and not _TAG.search(text):
        return text
    line = "".join(char if char.isprintable() else " " for char in text)
    line = _TAG.sub(lambda tag: f"({''.join(filter(None, tag.groups()))})", line)
    raw = line.encode("utf-8", "replace")
    if len(raw) <= limit:
        return line
    return raw[: limit - len(_CUT)].decode("utf-8", "ignore") + _CUT
