"""One file per mechanism; the file's name is its id."""

from chaosops.packs.arena.mechanism import Mechanism
from chaosops.packs.discovery import discover

# The causes that the published splits draw from and list in their prompts. A mechanism that is
# added strikes in split ``extra``.
SHIPPED_MECHANISMS = (
    "bad_config",
    "bad_deploy",
    "batch_starvation",
    "cache_stampede",
    "capacity_cut",
    "deadlock",
    "disk_fill",
    "expired_certificate",
    "leak",
    "misrouting",
    "pool_exhaustion",
    "quota_hit",
    "resolver_outage",
    "retry_storm",
)
MECHANISMS: dict[str, Mechanism] = discover(
    __name__, __path__, "MECHANISM", "id", SHIPPED_MECHANISMS
)
