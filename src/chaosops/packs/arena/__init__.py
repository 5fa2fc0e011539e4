"""Generated companies. Oversight has to weigh evidence here."""

from chaosops.packs.arena.pack import ArenaPack

PACK = ArenaPack()

__all__ = ["PACK", "ArenaPack"]
