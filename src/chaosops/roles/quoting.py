"""Text of other players in a prompt: short, on one line, without control tokens.

A player must not fill the context of another's model, write lines that look like the world's, or
end a message of the chat template. The limit is in bytes, because a byte-level tokenizer makes at
most one token of a byte.
"""

from __future__ import annotations

import re

QUOTED_BYTES = 240
_CUT = " [...]"
# Control tokens of chat templates: <|im_end|>, </s>, <start_of_turn>, [INST].
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
    fits = text.isascii() and text.isprintable() and len(text) <= limit
    # Every tag has one of these characters. Most texts have none, and searching tags is slow.
    if fits and not ("<" in text or ">" in text or "[" in text):
        return text
    line = "".join(char if char.isprintable() else " " for char in text)
    line = _TAG.sub(lambda tag: f"({''.join(filter(None, tag.groups()))})", line)
    raw = line.encode("utf-8", "replace")
    if len(raw) <= limit:
        return line
    return raw[: limit - len(_CUT)].decode("utf-8", "ignore") + _CUT
