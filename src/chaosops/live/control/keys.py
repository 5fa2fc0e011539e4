"""Keys: one HMAC key for each agent and for the operator, one Ed25519 key for the log.

An agent proves with its key that a request is its own. The control plane signs what it recorded,
and whoever reads the log needs its public key alone.
"""

from __future__ import annotations

import ctypes
import hmac
import secrets
from hashlib import sha256
from typing import TYPE_CHECKING

from chaosops.core.errors import MissingExtra

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_BYTES = 32
SCHEME = "HMAC-SHA256"
_PR_SET_DUMPABLE = 4


def hide_memory() -> None:
    """No other process of the same user can read the keys in this one. Root still can."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def draw_key() -> bytes:
    """Secret, so it comes from the kernel and not from the seed."""
    return secrets.token_bytes(KEY_BYTES)


def mac(key: bytes, path: str, body: bytes) -> str:
    """The path is part of it: what was meant for one route is worth nothing on another."""
    return hmac.new(key, path.encode() + b"\n" + body, sha256).hexdigest()


def is_mac(key: bytes, path: str, body: bytes, claimed: str) -> bool:
    return hmac.compare_digest(mac(key, path, body).encode(), claimed.encode())


class Signer:
    def __init__(self) -> None:
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        except ImportError:
            raise MissingExtra("a live company", "cryptography", "live") from None
        self._key: Ed25519PrivateKey = Ed25519PrivateKey.generate()
        self.public_key = self._key.public_key().public_bytes_raw().hex()

    def sign(self, text: str) -> str:
        return self._key.sign(text.encode()).hex()


def is_signed(public_key: str, text: str, signature: str) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), text.encode())
    except (InvalidSignature, ValueError):  # ValueError: not even of the form of one
        return False
    return True
