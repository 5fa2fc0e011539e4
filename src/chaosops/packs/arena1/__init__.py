"""Generated companies. Oversight has to weigh evidence here."""

from chaosops.packs.arena1.pack import FirstArenaPack

PACK = FirstArenaPack()

__all__ = ["PACK", "FirstArenaPack"]
