"""Which code a process runs: workers must run the driver's."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

from chaosops.core.errors import BadInput
from chaosops.packs import PACKS, load_pack
from chaosops.version import VERSION

_CURE = "install the same chaosops and the same packs on both"


def identity() -> dict[str, str]:
    """Version, hash of the source, and the hash of each pack."""
    return {
        "version": VERSION,
        **{f"pack {name}": load_pack(name).content_hash() for name in PACKS},
        "source": _source(),  # last: a difference in a pack says more
    }


def require_same(driver: Mapping[str, str]) -> None:
    """Called in a worker with the identity of its driver."""
    own = identity()
    for name in (*driver, *own):
        here, there = own.get(name, "missing"), driver.get(name, "missing")
        if here != there:
            raise BadInput(
                f"a worker on {socket.gethostname()} runs other code: {name} is {here} there and "
                f"{there} here; {_CURE}"
            )


def _source() -> str:
    home = Path(__file__).parents[1]
    digest = blake2b(digest_size=8)
    for path in sorted(home.rglob("*.py")):
        digest.update(path.relative_to(home).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
