"""Which pages may use the server from a browser, and which host names it has.

A page of another site can make a visitor's browser send requests here. The browser names that
site in ``Origin``; other clients send no ``Origin``. A site can also let its own name point to
this machine (DNS rebinding). Then ``Host`` holds that name.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from chaosops.core.errors import BadInput

# A Hugging Face Space finds its public name here.
SPACE_VARIABLE = "SPACE_HOST"
_PORTS = {"http": 80, "https": 443}


class Place(NamedTuple):
    host: str
    port: int | None


class Origins:
    """Loopback, plain addresses, ``public_hosts`` and ``allowed`` origins."""

    def __init__(self, public_hosts: Iterable[str] = (), allowed: Iterable[str] = ()) -> None:
        space = os.environ.get(SPACE_VARIABLE, "")
        named = [*public_hosts, *([space] if space else [])]
        self._any_host = "*" in named
        self._hosts = {read_host(name) for name in named if name != "*"}
        self._allowed = {read_origin(text) for text in allowed}

    def problem_of_host(self, given: str | None) -> str | None:
        """A browser always sends ``Host``."""
        if given is None or self._any_host:
            return None
        place = _place(given, None)
        name = given if place is None else place.host
        # A plain address needs no DNS, so it cannot be rebound.
        if place is not None and (name in self._hosts or _is_local(name) or _address(name)):
            return None
        return (
            f"this server is not known as {name[:100]!r}; "
            f"start it with --public-host {name[:100]} if it is"
        )

    def problem_of_origin(self, given: Sequence[str], host: str | None) -> str | None:
        for origin in given:
            if not self._may_come_from(origin, host):
                shown = origin[:100]
                return (
                    f"pages of {shown!r} may not use this server; "
                    f"start it with --allow-origin {shown} if they may"
                )
        return None

    def _may_come_from(self, origin: str, host: str | None) -> bool:
        try:
            scheme, place = read_origin(origin)
        except BadInput:
            return False  # such as "null", which a page in a sandbox sends
        if (scheme, place) in self._allowed or place.host in self._hosts:
            return True
        here = None if host is None else _place(host, _PORTS[scheme])
        if here is None:
            return False
        return place == here or (_is_local(place.host) and _is_local(here.host))


def read_origin(text: str) -> tuple[str, Place]:
    """
    >>> read_origin("https://Example.org")
    ('https', Place(host='example.org', port=443))
    """
    scheme, found, rest = text.strip().partition("://")
    if scheme in _PORTS and found and not set(rest) & set("/?#@ "):
        place = _place(rest, _PORTS[scheme])
        if place is not None:
            return scheme, place
    raise BadInput(f"{text!r} is not an origin; write one such as https://example.org")


def read_host(text: str) -> str:
    """
    >>> read_host("Team-Space.hf.space")
    'team-space.hf.space'
    """
    place = None if set(text) & set("/?#@ ") else _place(text.strip(), None)
    if place is None or not place.host:
        raise BadInput(f"{text!r} is not a host; write one such as example.org, without https://")
    return place.host


def _place(authority: str, port: int | None) -> Place | None:
    try:
        parts = urlsplit(f"//{authority}")
        host = (parts.hostname or "").rstrip(".").lower()
        return Place(host, parts.port or port) if host else None
    except ValueError:
        return None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_local(host: str) -> bool:
    address = _address(host)
    if address is not None:
        return address.is_loopback
    return host == "localhost" or host.endswith(".localhost")
