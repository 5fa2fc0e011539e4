"""Generated companies, where oversight must be earned."""

from chaosops.packs.arena.pack import ArenaPack

PACK = ArenaPack()

__all__ = ["PACK", "ArenaPack"]
