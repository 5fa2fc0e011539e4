"""An act of a fleet agent in words, for people."""

from __future__ import annotations

import re

from chaosops.core.telemetry import TraceEntry

MINUS = "\N{MINUS SIGN}"
_MINUTE = re.compile(r"\bminute (-?\d+)")
_NEGATIVE = re.compile(r"(?<![\w-])-(?=\d)")


def clock(step: int) -> str:
    """Minutes before and after the incident began, as the page writes them.

    >>> clock(-5), clock(0), clock(7)
    ('t\N{MINUS SIGN}5', 't+0', 't+7')
    """
    return f"t{MINUS}{-step}" if step < 0 else f"t+{step}"


def for_people(text: str) -> str:
    """Sentences of a pack with one sign for minus and one notation of time.

    >>> for_people("#4 at minute -5: from 50 to 34 (-32%) on api-2")
    '#4 at t\N{MINUS SIGN}5: from 50 to 34 (\N{MINUS SIGN}32%) on api-2'
    """
    clocked = _MINUTE.sub(lambda found: clock(int(found[1])), text)
    return _NEGATIVE.sub(MINUS, clocked)


def change_words(before: str, after: str) -> str:
    """
    >>> change_words("6", "2"), change_words("zone-a", "zone-b")
    ('6 → 2 (\N{MINUS SIGN}66%)', 'zone-a → zone-b')
    """
    words = f"{before} → {after}"
    if not (before.isdecimal() and after.isdecimal()):
        return words
    old, new = int(before), int(after)
    return for_people(f"{words} ({int(100 * (new - old) / max(1, old)):+d}%)")


def act_words(entry: TraceEntry) -> str:
    """
    >>> act_words(TraceEntry(-5, "autoscaler", "replicas", "orders", "8", "6", "util 41%", 12))
    '#12 at t\N{MINUS SIGN}5: replicas of orders 8 → 6 (\N{MINUS SIGN}25%)'
    """
    change = change_words(entry.before, entry.after)
    return f"#{entry.id} at {clock(entry.step)}: {entry.action} of {entry.target} {change}"
