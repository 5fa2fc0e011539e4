"""Words that companies are named with. ``rare`` is kept for the split that tests new names."""

from __future__ import annotations

_COMMON = {
    "edge": ("web", "mobile-gw", "partner-gw", "storefront", "api-gw"),
    "api": (
        "orders", "billing", "search", "accounts", "pricing", "catalog", "profile", "checkout",
        "shipping", "reviews", "offers", "sessions", "quotes", "bookings", "wallet", "returns",
    ),
    "queue": ("events", "outbox", "jobs", "inbox", "tasks"),
    "worker": ("mailer", "indexer", "thumbnails", "exporter", "invoicer", "scorer", "archiver"),
    "cache": ("page-cache", "price-cache", "user-cache", "geo-cache", "rate-cache"),
    "store": ("ledger-db", "user-db", "stock-db", "audit-db", "blob-store", "graph-db", "doc-db"),
}  # fmt: skip
_RARE = {
    "edge": ("kiosk", "turnstile", "portal-x", "switchboard", "concierge"),
    "api": (
        "harvest", "tariffs", "vineyard", "manifests", "roster", "freight", "stamps", "parcels",
        "almanac", "docket", "ferry", "lodging", "tollbooth", "granary", "ballots", "customs",
    ),
    "queue": ("conveyor", "backlog-q", "belt", "chute", "pipeline-q"),
    "worker": ("weaver", "sorter", "painter", "stitcher", "courier", "grinder", "binder"),
    "cache": ("shelf", "larder", "rack", "cubby", "drawer"),
    "store": ("vault", "granite", "cellar", "silo", "bunker", "quarry", "strongbox"),
}  # fmt: skip
WORDS = {"common": _COMMON, "rare": _RARE}
