"""The arena's mechanisms, as the live company has them: at services that are named, and with one
usual value each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from chaosops.packs.arena.company import Company
from chaosops.packs.arena.mechanism import Mechanism, Modifiers
from chaosops.packs.arena.mechanisms import MECHANISMS


@dataclass(frozen=True, slots=True)
class PlacedMechanism(Mechanism):
    services: tuple[str, ...] = ()
    """The services whose setting does something. Elsewhere it is a value in the books."""

    def places(self, company: Company) -> list[int]:
        return [i for i, name in enumerate(company.services) if name in self.services]

    @property
    def usual(self) -> int:
        return self.values[0]


# What the setting is where all is well, and where it does something.
_PLACES: Mapping[str, tuple[int, tuple[str, ...]]] = {
    "bad_config": (2000, ("storefront", "orders", "catalog", "accounts")),
    "bad_deploy": (40, ("orders", "catalog", "mailer")),
    "batch_starvation": (40, ("mailer", "ledger")),
    "cache_stampede": (400, ("cache",)),
    "capacity_cut": (8, ("orders", "mailer")),
    "deadlock": (60, ("ledger",)),
    "disk_fill": (48, ("receipts", "outbox")),
    "expired_certificate": (60, ("accounts", "storefront")),
    "leak": (100, ("catalog", "cache", "orders")),
    "misrouting": (100, ("storefront", "accounts")),
    "pool_exhaustion": (60, ("ledger", "accounts")),
    "quota_hit": (1000, ("mailer", "storefront")),
    "resolver_outage": (300, ("storefront", "catalog")),
    "retry_storm": (10, ("orders", "receipts", "outbox")),
}
# Where a real fault shows otherwise than the arena's: requests fail, and capacity is left. The page
# of the runbook names the gauge that moves.
_EFFECTS = {
    "bad_deploy": Modifiers(errors=0.28, latency=1.8),
    "deadlock": Modifiers(errors=0.3, latency=6.0),
    "retry_storm": Modifiers(errors=0.3),
}


def _placed(name: str, usual: int, services: tuple[str, ...]) -> PlacedMechanism:
    known = MECHANISMS[name]
    values = {field.name: getattr(known, field.name) for field in fields(known)}
    values |= {"values": (usual, usual), "effect": _EFFECTS.get(name, known.effect)}
    return PlacedMechanism(**values, services=services)


PLACED = {name: _placed(name, *of) for name, of in _PLACES.items()}


def at_service(service: str) -> list[PlacedMechanism]:
    """What can strike a service, in the order of the table."""
    return [mechanism for mechanism in PLACED.values() if service in mechanism.services]
