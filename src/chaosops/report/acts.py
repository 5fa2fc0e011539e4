"""An act of a fleet agent in words, for people."""

from __future__ import annotations

from chaosops.core.telemetry import TraceEntry


def change_words(before: str, after: str) -> str:
    """
    >>> change_words("6", "2"), change_words("zone-a", "zone-b")
    ('6 → 2 (-66%)', 'zone-a → zone-b')
    """
    words = f"{before} → {after}"
    if not (before.isdecimal() and after.isdecimal()):
        return words
    old, new = int(before), int(after)
    return f"{words} ({int(100 * (new - old) / max(1, old)):+d}%)"


def act_words(entry: TraceEntry) -> str:
    """
    >>> act_words(TraceEntry(-5, "autoscaler", "replicas", "orders", "8", "6", "util 41%", 12))
    '#12 at minute -5: replicas of orders 8 → 6 (-25%)'
    """
    change = change_words(entry.before, entry.after)
    return f"#{entry.id} at minute {entry.step}: {entry.action} of {entry.target} {change}"
