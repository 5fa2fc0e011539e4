"""One file per mechanism; the file's name is its id."""

from chaosops.packs.arena.mechanism import Mechanism
from chaosops.packs.discovery import discover

MECHANISMS: dict[str, Mechanism] = discover(__name__, __path__, "MECHANISM", "id")
