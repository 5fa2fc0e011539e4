"""Which client a request belongs to: the address that it comes from."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

# The client that is being served, for code that has no request.
current_client: ContextVar[str] = ContextVar("current_client", default="nobody")


def client_of(scope: Mapping[str, Any]) -> str:
    """Behind a trusted proxy, uvicorn has put the visitor's own address here."""
    client = scope.get("client")
    return "unknown" if client is None else name_of(str(client[0]))


@lru_cache(maxsize=4096)
def name_of(address: str) -> str:
    """One name for all addresses of a client: an IPv6 host has a whole /64 of them.

    >>> name_of("203.0.113.7"), name_of("::ffff:203.0.113.7")
    ('203.0.113.7', '203.0.113.7')
    >>> name_of("2001:db8::1") == name_of("2001:db8::2")
    True
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((ip, 64), strict=False))
