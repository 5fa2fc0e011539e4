"""Options of every command that serves: limits, hosts, origins, token, proxies."""

from __future__ import annotations

import argparse
import ipaddress
import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from chaosops.access.gate import Access
from chaosops.access.limits import Limits, option_of
from chaosops.access.origins import SPACE_VARIABLE, read_host, read_origin
from chaosops.access.tokens import VARIABLE, read_token
from chaosops.core.errors import BadInput

PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
_MOST = 1_000_000


def add_options(parser: argparse.ArgumentParser) -> None:
    for one in fields(Limits):
        parser.add_argument(
            option_of(one.name),
            type=_count,
            default=one.default,
            metavar="N",
            help=f"{one.metadata['help']} (default: %(default)s)",
        )
    parser.add_argument(
        "--request-timeout",
        type=_seconds,
        default=10.0,
        metavar="SECONDS",
        help="for a whole request to arrive, headers and body (default: %(default)s)",
    )
    parser.add_argument(
        "--public-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name by which clients call this server; again for more, * for any "
        "(always known: localhost and plain addresses)",
    )
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="a site whose pages may use this server, such as https://example.org; again for more",
    )
    parser.add_argument(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="whose X-Forwarded-For tells a client's address: an address, a network, or "
        "'private' for all private networks; again for more",
    )
    parser.add_argument(
        "--token",
        help=f"ask for this bearer token; others see it in the process list: {VARIABLE} "
        "in the environment or --token-file is better",
    )
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="a file that holds it")


def read_limits(args: argparse.Namespace) -> Limits:
    return Limits(**{one.name: getattr(args, f"max_{one.name}") for one in fields(Limits)})


def read_access(args: argparse.Namespace) -> Access:
    return access_of(
        args.public_host,
        args.allow_origin,
        args.trusted_proxy,
        read_token(args.token, args.token_file),
    )


def access_from_environment() -> Access:
    """For a server that is started without these options."""
    return access_of((), (), (), read_token(None, None))


def access_of(
    hosts: Sequence[str], origins: Sequence[str], proxies: Sequence[str], token: str
) -> Access:
    for host in hosts:
        if host != "*":
            read_host(host)
    for origin in origins:
        read_origin(origin)
    # The proxies of a Hugging Face Space have private addresses.
    named = [*proxies, *(["private"] if os.environ.get(SPACE_VARIABLE) else [])]
    networks = [net for name in named for net in (PRIVATE if name == "private" else (name,))]
    return Access(
        public_hosts=tuple(hosts),
        allowed_origins=tuple(origin.lower() for origin in origins),
        token=token,
        trusted_proxies=tuple(_network(text) for text in networks),
    )


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise BadInput(
            f"--trusted-proxy {text!r} is no address; write one such as 10.0.0.7, "
            "a network such as 10.0.0.0/8, or private"
        ) from None


def _count(text: str) -> int:
    if text.isascii() and text.isdecimal() and 1 <= int(text[:10]) <= _MOST:
        return int(text[:10])
    raise argparse.ArgumentTypeError(
        f"expected a whole number from 1 to {_MOST}, got {text[:40]!r}"
    )


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 600:
        raise argparse.ArgumentTypeError(
            f"expected more than 0 and at most 600 seconds, got {text[:40]!r}"
        )
    return value
