"""The labels of a menu, and the order in which a company's menus have them."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import NamedTuple

from chaosops.core.dice import Dice, key_of
from chaosops.core.vocabulary import Role

LETTERS = tuple(ascii_uppercase + ascii_lowercase)
# Two letters that are one token for the models in use.
_PAIRS = (
    "ab", "ac", "ad", "af", "ag", "ak", "al", "ap", "aq", "av", "aw", "ax", "az", "ba", "bb",
    "bc", "bd", "bf", "bg", "bl", "bm", "bn", "bp", "bs", "bt", "ca", "cb", "cc", "cd", "cf",
    "cl", "cm", "cn", "cp", "cs", "ct", "cx", "da", "db", "dc", "dd", "df", "dk", "dm", "dn",
    "dp", "ds", "dt", "eb", "ec", "ef", "eg", "ek", "ep", "eq", "ew", "ez", "fa", "fb", "fc",
    "fd", "ff",
)  # fmt: skip
LABELS = (*LETTERS, *_PAIRS)  # each is one token


class MenuOrder(NamedTuple):
    """The labels of a role's menu from its first place on, and the verbs of its rows. The first
    of both, for doing nothing, is the same everywhere."""

    labels: tuple[str, ...]
    verbs: tuple[str, ...]

    def label(self, place: int) -> str:
        """Past the labels that are one token come two letters."""
        drawn = len(self.labels)
        return self.labels[place] if place < drawn else label(len(LETTERS) + place - drawn)


def label(place: int) -> str:
    """The label of a place in a menu without an order of its own.

    >>> label(0), label(51), label(52)
    ('A', 'z', 'AA')
    """
    letters = len(LETTERS)
    if place < letters:
        return LETTERS[place]
    return label(place // letters - 1) + LETTERS[place % letters]


def draw_order(key: int, role: Role, choices: int, verbs: Sequence[str]) -> MenuOrder:
    """``choices``: how many actions the role has. Up to 52, all labels are letters."""
    known = LABELS if choices > len(LETTERS) else LETTERS
    labels = Dice(key_of(key, "labels", role)).shuffled(known[1:])
    rows = Dice(key_of(key, "rows", role)).shuffled(verbs[1:])
    return MenuOrder((known[0], *labels), (*verbs[:1], *rows))
