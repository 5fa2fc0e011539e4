"""What each service does with a request, where no fault is at work."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any

from chaosops.live.client import CallFailed
from chaosops.live.topology import FAR_REGION, PROVIDER, RESOLVER, TARGETS

if TYPE_CHECKING:
    from asyncpg import Pool

    from chaosops.live.replica import Call, Handler, Replica

_OK = b"ok"
_READS = 3  # for each product that is not in the cache
_CONNECTIONS = 3  # that a replica of the ledger uses for requests
SCHEMA = """
CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);
CREATE TABLE products (id int PRIMARY KEY, price int NOT NULL);
CREATE UNLOGGED TABLE orders (ticket bigint NOT NULL, account int NOT NULL);
INSERT INTO accounts SELECT n, 100 FROM generate_series(0, 499) AS n;
INSERT INTO products SELECT n, 5 + n % 90 FROM generate_series(0, 999) AS n;
"""


async def handler_of(replica: Replica) -> Handler | None:
    """None for the users, who serve nobody."""
    maker = _MAKERS.get(replica.service)
    return await maker(replica) if maker else None


async def _storefront(replica: Replica) -> Handler:
    async def serve(call: Call) -> bytes:
        return await replica.client.call(TARGETS[call.path], call.path, call.ticket, call.heavy)

    return serve


async def _orders(replica: Replica) -> Handler:
    async def serve(call: Call) -> bytes:
        await replica.client.call("ledger", "order", call.ticket, call.heavy)
        return await replica.client.call(
            "outbox", "mail", call.ticket, call.heavy, b"order %d" % call.ticket
        )

    return serve


async def _catalog(replica: Replica) -> Handler:
    async def serve(call: Call) -> bytes:
        return await replica.client.call("cache", "get", call.ticket)

    return serve


async def _accounts(replica: Replica) -> Handler:
    async def serve(call: Call) -> bytes:
        return await replica.client.call("ledger", "account", call.ticket, call.heavy)

    return serve


class Cache:
    """Exact LRU: what was not read for the longest time leaves first."""

    def __init__(self, limit: int, working_set: int) -> None:
        self.limit = limit
        self.working_set = working_set
        """How many keys are read in turn."""
        self.entries: OrderedDict[int, bytes] = OrderedDict()

    def get(self, key: int) -> bytes | None:
        """What is kept. A key that is missing takes its place at once and is filled by ``put``, so
        that the order is that of the reads, however long the store takes."""
        found = self.entries.setdefault(key, b"")
        self.entries.move_to_end(key)
        self.trim()
        return found or None

    def put(self, key: int, content: bytes) -> None:
        """Fill the place of a key, if it has not left meanwhile."""
        if key in self.entries:
            self.entries[key] = content

    def trim(self) -> None:
        while len(self.entries) > self.limit:
            self.entries.popitem(last=False)


async def _cache(replica: Replica) -> Handler:
    cache = replica.shared["cache"] = Cache(1000, 40)

    async def serve(call: Call) -> bytes:
        key = call.ticket % cache.working_set
        found = cache.get(key)
        if found is None:
            # Price, stock and description of a product are read at once.
            reads = (
                replica.client.call("ledger", f"product/{key}", call.ticket) for _ in range(_READS)
            )
            found = (await asyncio.gather(*reads))[0]
            cache.put(key, found)
        return found

    return serve


async def _ledger(replica: Replica) -> Handler:
    import asyncpg

    pool: Pool = await asyncpg.create_pool(
        **replica.surroundings.database, min_size=1, max_size=_CONNECTIONS
    )

    async def serve(call: Call) -> bytes:
        if call.path == "order":
            await pool.execute("INSERT INTO orders VALUES ($1, $2)", call.ticket, call.ticket % 500)
            return _OK
        if call.path == "account":
            query, number = "SELECT balance FROM accounts WHERE id = $1", call.ticket % 500
        else:
            number = int(call.path.rpartition("/")[2]) % 1000
            query = "SELECT price FROM products WHERE id = $1"
        return str(await pool.fetchval(query, number)).encode()

    return serve


class Spool:
    """Files, of which the newest are kept. All replicas of a service share them."""

    def __init__(self, folder: Path, most: int = 300) -> None:
        self.folder = folder / "spool"
        self.folder.mkdir(exist_ok=True)
        self.most = most

    def write(self, content: bytes) -> Path:
        path = self.folder / f"{time_ns():020}-{os.getpid()}"
        path.write_bytes(content)
        self.trim()
        return path

    def files(self) -> list[str]:
        """Oldest first."""
        return sorted(os.listdir(self.folder))

    def trim(self) -> None:
        for name in self.files()[: -self.most]:
            (self.folder / name).unlink(missing_ok=True)


async def _outbox(replica: Replica) -> Handler:
    """A message is accepted once it is in the spool, and sent to the mailer after that. One that
    cannot be sent is given up, so that no backlog follows an incident."""
    spool = replica.shared["spool"] = Spool(replica.folder)

    async def send(call: Call) -> None:
        with suppress(CallFailed):
            await replica.client.call("mailer", "send", call.ticket, call.heavy, call.body)

    async def serve(call: Call) -> bytes:
        spool.write(call.body)
        replica.spawn(send(call))
        return _OK

    return serve


async def _mailer(replica: Replica) -> Handler:
    async def serve(call: Call) -> bytes:
        await replica.client.call(PROVIDER, "send", call.ticket)
        return await replica.client.call("receipts", "store", call.ticket, call.heavy, call.body)

    return serve


async def _receipts(replica: Replica) -> Handler:
    spool = replica.shared["spool"] = Spool(replica.folder)

    async def serve(call: Call) -> bytes:
        spool.write(call.body * 40)
        return _OK

    return serve


async def _resolver(replica: Replica) -> Handler:
    async def serve(call: Call) -> bytes:
        ports = replica.state.get("ports", {}).get(call.path)
        if not ports:
            raise replica.failed(f"no address for {call.path}")
        return " ".join(map(str, ports)).encode()

    return serve


async def _outside(replica: Replica) -> Handler:
    async def serve(call: Call) -> bytes:
        await asyncio.sleep(0.005)
        return _OK

    return serve


_MAKERS: Mapping[str, Any] = {
    "storefront": _storefront,
    "orders": _orders,
    "catalog": _catalog,
    "accounts": _accounts,
    "cache": _cache,
    "ledger": _ledger,
    "outbox": _outbox,
    "mailer": _mailer,
    "receipts": _receipts,
    RESOLVER: _resolver,
    PROVIDER: _outside,
    FAR_REGION: _outside,
}
