"""What the answers show about a server: revisions, usage, and which wishes it meets."""

from __future__ import annotations

from chaosops.policies.llm.answers import Answer

MOST_REVISIONS = 8  # a server could name a new one with every answer


class ServerNotes:
    def __init__(self) -> None:
        self.wishes_met: set[str] = set()
        self.usage: str | None = None
        self._revisions: set[str] = set()

    def add(self, answer: Answer) -> None:
        if answer.revision:
            self._revisions.add(answer.revision)
        if answer.tokens_read is None or answer.tokens_written is None:
            self.usage = "usage not reported"
        self.usage = self.usage or "reported"

    def revision(self) -> str | None:
        """In alphabetical order, because answers arrive in any order."""
        names = sorted(self._revisions)
        more = len(names) - MOST_REVISIONS
        shown = ", ".join(names[:MOST_REVISIONS])
        return (f"{shown} and {more} more" if more > 0 else shown) or None

    def wish(self, name: str, instead: str = "no") -> str:
        met = self.wishes_met
        if met <= {"kept"}:
            return name if met else f"{name} (not asked yet)"
        trouble = " and ".join(sorted(met - {"kept"}))
        return f"{'partly' if 'kept' in met else instead} (server {trouble} {name})"
