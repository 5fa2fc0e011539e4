"""Options of a server about who may use it: hosts, origins, token, proxies."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from chaosops.access.origins import SPACE_VARIABLE, Origins
from chaosops.access.tokens import Token, read_token
from chaosops.core.errors import BadInput

PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")


@dataclass(frozen=True)
class Access:
    """A field is an option of ``chaosops serve``; a tuple may be given several times.

    Attributes:
        request_timeout: seconds for a whole request to arrive, headers and body
        public_host: a host name of this server, * for any; repeatable
        allow_origin: a site whose pages may use this server, like https://example.org; repeatable
        trusted_proxy: a proxy to trust for X-Forwarded-For: address, network, private; repeatable
        token: ask for this bearer token; CHAOSOPS_TOKEN and --token-file hide it from other users
        token_file: a file with the token
    """

    request_timeout: float = 10.0
    public_host: tuple[str, ...] = ()
    allow_origin: tuple[str, ...] = ()
    trusted_proxy: tuple[str, ...] = ()
    token: str | None = None
    token_file: Path | None = None

    def __post_init__(self) -> None:
        if not 0 < self.request_timeout <= 600:
            raise BadInput(
                "--request-timeout: expected more than 0 and at most 600 seconds, "
                f"got {self.request_timeout}"
            )

    @cached_property
    def origins(self) -> Origins:
        return Origins(self.public_host, self.allow_origin)

    @cached_property
    def asked_token(self) -> Token | None:
        """The token from the options or the environment. None if the server asks for none."""
        text = read_token(self.token, self.token_file)
        return Token(text) if text else None

    @cached_property
    def trusted_networks(self) -> list[str]:
        # The proxies of a Hugging Face Space have private addresses.
        named = [*self.trusted_proxy, *(["private"] if os.environ.get(SPACE_VARIABLE) else [])]
        networks = [net for name in named for net in (PRIVATE if name == "private" else (name,))]
        return [_network(text) for text in networks]


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise BadInput(
            f"--trusted-proxy {text!r} is not an address; write one such as 10.0.0.7, "
            "a network such as 10.0.0.0/8, or private"
        ) from None
