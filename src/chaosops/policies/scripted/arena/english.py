"""A little English: numbers, directions, places and remedies, for sentences in unknown wordings.

What a programmer writes down who has seen the wordings of ``train`` alone, with the next synonyms.
"""

from __future__ import annotations

import re

from chaosops.core.actions import VERBS, Action, Escalate, Remedy

_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SPELLED = {word: i for i, word in enumerate(_UNITS) if i != 1} | {  # "one" is mostly no number
    word: 20 + 10 * i for i, word in enumerate(_TENS)
}
_TWO_WORDS = re.compile(rf"\b({'|'.join(_TENS)})[ -]({'|'.join(_UNITS[1:10])})\b")
_SPELLED_NUMBER = re.compile(rf"\b({'|'.join(sorted(_SPELLED, key=len, reverse=True))})\b")
_PARTS = {"half": "50%", "a third": "33%", "a quarter": "25%", "a fifth": "20%"}
_PART = re.compile(rf"\b({'|'.join(_PARTS)})\b")
_PERCENT = re.compile(r"(\d+) ?(?:%|percent\b|per cent\b)")
_MINUS = re.compile(r"\bminus (?=\d)")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?![\w.%])")

_SETTING = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b|\breplicas\b")
_COMPARED = re.compile(r"\b(?:more|less|higher|lower|fewer) than\b|\bor (?:more|less)\b|\bup to\b")
_UP = re.compile(r"\b(?:rais|lift|increas|grow|higher|more|up\b)\w*")
_DOWN = re.compile(r"\b(?:lower|cut|reduc|decreas|drop|less|down)\w*")
_CALLER = re.compile(r"\bcallers?\b|\bupstream\b|\bcalls it\b")
_CALLEE = re.compile(r"\bcallees?\b|\bdownstream\b|\bit calls\b|\bdependency\b")
_SYNONYMS = {
    "restart": "reboot",
    "rollback": "roll back|revert|undo",
    "scale": "more replicas|add replicas",
    "reroute": "redirect|divert",
    "purge": "clean|clear|delete",
    "renew_cert": "renew|certificate",
    "throttle": "limit|slow down",
    "warm_cache": "warm|cache",
    "pause_batch": "pause|batch",
    "escalate": "manager|hand over",
}


def plain(text: str) -> str:
    """In lower case, with numbers as digits and shares in percent.

    >>> plain("By more than thirty-five per cent, or a fifth")
    'by more than 35%, or 20%'
    """
    text = _TWO_WORDS.sub(
        lambda found: str(_SPELLED[found[1]] + _UNITS.index(found[2])), text.lower()
    )
    text = _SPELLED_NUMBER.sub(lambda found: str(_SPELLED[found[1]]), text)
    text = _PART.sub(lambda found: _PARTS[found[1]], text)
    return _PERCENT.sub(r"\1%", _MINUS.sub("-", text))


def percents(text: str) -> list[int]:
    """The shares in a plain text."""
    return [int(number) for number in re.findall(r"(\d+)%", text)]


def numbers(text: str) -> list[int]:
    """The other numbers in a plain text."""
    return [int(number) for number in _NUMBER.findall(text)]


def setting_in(text: str) -> str | None:
    """Settings are written as identifiers."""
    found = _SETTING.search(text)
    return found[0] if found else None


def direction(text: str) -> int:
    """+1 up, -1 down, 0 where a text does not say, or says both. Names of settings say nothing.

    >>> direction("cut by more than 30%"), direction("lifted by over 30%"), direction("moves")
    (-1, 1, 0)
    """
    said = _COMPARED.sub(" ", _SETTING.sub(" ", text.lower()))
    return bool(_UP.search(said)) - bool(_DOWN.search(said))


def neighbour_in(text: str) -> str | None:
    """A caller or callee, where a text speaks of one."""
    if _CALLER.search(text):
        return "caller"
    return "callee" if _CALLEE.search(text) else None


def remedy_in(text: str) -> type[Action] | None:
    """The remedy that a text names; None where it names none, or several."""
    said = text.lower()
    kinds = {verb: kind for verb, kind in VERBS.items() if issubclass(kind, Remedy | Escalate)}
    named = [kind for verb, kind in kinds.items() if verb in said]
    if len(named) != 1:
        named = [kind for verb, kind in kinds.items() if re.search(_SYNONYMS.get(verb, "$^"), said)]
    return named[0] if len(named) == 1 else None


def has_word(text: str, name: str) -> bool:
    """Names may have hyphens and digits."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None
