"""Nine written incidents with published numbers."""

from chaosops.packs.classic.pack import ClassicPack

PACK = ClassicPack()

__all__ = ["PACK", "ClassicPack"]
