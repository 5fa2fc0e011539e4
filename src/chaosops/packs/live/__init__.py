"""The same incidents in a company of real processes, in real time."""

from chaosops.packs.live.pack import LivePack

PACK = LivePack()

__all__ = ["PACK", "LivePack"]
