"""Packs in real time start processes, so that they are played only where somebody named them.

Commands that play one named episode after the other permit it. Servers, checks, training and
everything that goes through all packs do not.
"""

from __future__ import annotations

from chaosops.core.errors import BadInput

_permitted = False


def permit_real_time() -> None:
    """For the rest of this process."""
    global _permitted
    _permitted = True


def is_permitted() -> bool:
    return _permitted


def require_permitted(pack: str) -> None:
    if not _permitted:
        raise BadInput(
            f"pack {pack} starts processes and plays in real time, which only chaosops run, watch "
            f"and eval --pack {pack}, chaosops live and chaosops serve --live do; in Python call "
            "chaosops.world.real_time.permit_real_time() first"
        )
