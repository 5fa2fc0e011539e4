"""Episodes in real time on the page: a person starts one, it is the only one, and its processes end
with it."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing

from chaosops.core.errors import BadInput
from chaosops.packs import load_pack
from chaosops.web.episode_pool import Lines, Slot
from chaosops.world.real_time import require_permitted

LOOK_S = 0.5  # between two looks at a thread that starts a company nobody watches any more

_playing: set[str] = set()  # packs of which an episode is being played, or is ending


def require_start(pack: str, method: str) -> None:
    """Any page of any site can make a browser send GET."""
    require_permitted(pack)
    if method != "POST":
        raise BadInput(f"an episode of pack {pack} starts processes; send the same query as POST")
    _require_free(pack)


def _require_free(pack: str) -> None:
    if pack in _playing:
        raise BadInput(f"an episode of pack {pack} is being played; wait until it is over")


async def one_at_a_time(pack: str, played: Lines, slot: Slot) -> Lines:
    """The lines of an episode. The next one may begin when its processes have ended."""
    _require_free(pack)
    _playing.add(pack)
    try:
        async with aclosing(played) as lines:
            async for item in lines:
                yield item
    finally:
        # The thread begins now. Where the visitor has left, or the server shuts down, nothing that
        # this task awaits is sure to begin.
        ended = asyncio.get_running_loop().run_in_executor(None, _end, pack, slot)
        await asyncio.shield(ended)


def _end(pack: str, slot: Slot) -> None:
    """A thread that starts a company cannot be stopped. What it has started is ended as soon as it
    is there."""
    try:
        while True:
            is_last = not slot.is_working
            load_pack(pack).close()
            if is_last:
                return
            time.sleep(LOOK_S)
    finally:
        _playing.discard(pack)
