"""The nine incidents that made the idea known, to the number."""

from chaosops.packs.classic.pack import ClassicPack

PACK = ClassicPack()

__all__ = ["PACK", "ClassicPack"]
