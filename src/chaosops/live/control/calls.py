"""Calls to the control plane from another process: an agent's, or the operator's."""

from __future__ import annotations

import json
import socket
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.live.control.keys import SCHEME, mac
from chaosops.live.control.plane import Refused

_OK = 200
_TIMEOUT_S = 30.0  # a remedy may restart every replica of a service


class Caller:
    """Opens a connection for each call: a model may think for minutes between two of them."""

    def __init__(self, address: Path, author: str, key: bytes) -> None:
        self._address = address
        self._author = author
        self._key = key
        self._count = 0

    def get(self, path: str) -> Any:
        return self._call("GET", path, None, {})

    def post(self, path: str, content: dict[str, Any]) -> Any:
        """Without a proof of who sends it."""
        return self._call("POST", path, json.dumps(content).encode(), {})

    def signed(self, path: str, content: dict[str, Any]) -> Any:
        self._count += 1
        body = json.dumps({**content, "author": self._author, "count": self._count}).encode()
        proof = {"Authorization": f"{SCHEME} {mac(self._key, path, body)}"}
        return self._call("POST", path, body, proof)

    def _call(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Any:
        connection = _UnixConnection(self._address)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            content = json.loads(answer.read())
        except (OSError, HTTPException, ValueError) as error:
            raise BadInput(
                f"the control plane at {self._address} does not answer: {error}; has it ended?"
            ) from None
        finally:
            connection.close()
        if answer.status != _OK:
            raise Refused(answer.status, str(content.get("error", answer.reason)))
        return content


class _UnixConnection(HTTPConnection):
    def __init__(self, address: Path) -> None:
        super().__init__("localhost", timeout=_TIMEOUT_S)
        self._address = address

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._address))
