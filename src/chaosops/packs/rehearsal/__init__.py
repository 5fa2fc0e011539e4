"""The incidents of the live company, played by the arena's physics and not by processes."""

from chaosops.packs.rehearsal.pack import RehearsalPack

PACK = RehearsalPack()

__all__ = ["PACK", "RehearsalPack"]
