"""Loopback addresses. Requests to them ignore proxy settings."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

PROXY_VARIABLES = "http_proxy, https_proxy or all_proxy"


def is_loopback(url: str) -> bool:
    """
    >>> is_loopback("http://127.0.0.1:8000/v1"), is_loopback("ws://[::1]:1/seat")
    (True, True)
    >>> is_loopback("https://localhost"), is_loopback("http://example.org"), is_loopback("http://[")
    (True, False, False)
    """
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
