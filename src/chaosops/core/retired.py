"""Versions of packs that nothing here plays any more, and the chaosops that plays them."""

from __future__ import annotations

from collections.abc import Iterable

from chaosops.core.errors import BadInput

# By name and version of the pack, as they stand in results and recordings.
_PLAYED_BY = {("arena", "1"): "0.1"}
# A pack that was kept beside a later version, under a name of its own.
_NAMES = {"arena1": ("arena", "1")}


def retired(pack: str, version: str) -> str:
    """What this version of a pack is, and what plays it. Empty if it is not retired. A first
    version may be recorded without a number.

    >>> retired("arena", "")
    'version 1 of the arena, which this version of chaosops does not play; use chaosops 0.1'
    >>> retired("arena", "2"), retired("classic", "1")
    ('', '')
    """
    player = _PLAYED_BY.get((pack, version or "1"))
    if player is None:
        return ""
    return (
        f"version {version or '1'} of the {pack}, which this version of chaosops does not play; "
        f"use chaosops {player}"
    )


def retired_name(pack: str) -> str:
    """The same for the name of a pack that is gone.

    >>> retired_name("arena1") == retired("arena", "1"), retired_name("arena")
    (True, '')
    """
    return retired(*_NAMES[pack]) if pack in _NAMES else ""


def require_played(what: str, packs: Iterable[tuple[str, str]]) -> None:
    """Refuse something that was recorded with a retired version. ``packs``: names and versions."""
    for name, version in packs:
        if told := retired(name, version):
            raise BadInput(f"{what} is of {told}")
