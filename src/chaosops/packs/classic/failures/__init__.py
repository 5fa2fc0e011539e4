"""One file per failure; the file's name is the failure's id."""

from chaosops.packs.classic.failure import Failure
from chaosops.packs.discovery import discover

FAILURES: dict[str, Failure] = discover(__name__, __path__, "FAILURE", "id")
