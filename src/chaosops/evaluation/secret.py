"""The secret of a private split. It hides which episodes are played, and signs their results.

Publish the commitment (``sha256sum FILE``) before the first submission and the secret itself
when the split is retired: then everybody can derive every episode and check every signature.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path

from chaosops.core.errors import BadInput
from chaosops.core.files import unwritable
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Tier
from chaosops.packs import make_scenario, require_version, splits

LEAST_BYTES = 32
_MOST_BYTES = 4096
_LEAST_VARIETY = 8  # different bytes; even hexadecimal digits have more


class Secret:
    """The bytes of a file, all of them. They never appear in a log or a traceback."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        if not LEAST_BYTES <= len(key) <= _MOST_BYTES or len(set(key)) < _LEAST_VARIETY:
            raise BadInput(
                f"a secret has {LEAST_BYTES} to {_MOST_BYTES} random bytes, this file does not; "
                "make one with chaosops secret FILE"
            )
        self._key = key

    def __repr__(self) -> str:
        return f"Secret(commitment {self.commitment[:12]}…)"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a secret does not leave its process")

    @property
    def commitment(self) -> str:
        """Its hash, which may be published."""
        return hashlib.sha256(self._key).hexdigest()

    def mac(self, purpose: str, *parts: str | int) -> bytes:
        """HMAC-SHA256 of the parts. Different purposes never sign the same text."""
        text = json.dumps(["chaosops", purpose, *parts], separators=(",", ":"))
        return hmac.digest(self._key, text.encode(), "sha256")


def create_secret(path: Path) -> Secret:
    """A new secret in a new file that its owner alone can read."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise BadInput(f"{path} exists already; a secret is never replaced") from None
    except OSError as error:
        raise unwritable(path, error) from None
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(LEAST_BYTES) + "\n")
    return read_secret(path)


def read_secret(path: Path, *, private: bool = True) -> Secret:
    """``private``: refuse a file that others can read. A retired secret is public."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            key = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise BadInput(
            f"cannot read the secret {path}: {error.strerror or error}; "
            "make one with chaosops secret FILE"
        ) from None
    if private and os.name == "posix" and mode & 0o077:
        raise BadInput(f"others can read the secret {path}; run chmod 600 on it")
    try:
        return Secret(key)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def hidden_seed(secret: Secret, series: str, split: str, tier: Tier, seed: int) -> int:
    """The seed that is played for the public ``seed``: 63 bits, the most that a scenario takes.

    >>> one = Secret(bytes(range(32)))
    >>> hidden_seed(one, "main", "test", Tier.HARD, 0)
    8384266639638400674
    """
    return int.from_bytes(secret.mac("hidden seed 1", series, split, tier, seed)[:8], "big") >> 1


def version_of(split: str) -> str:
    """The version of the pack that plays this split now, as a scenario has it.

    Only a pack with splits has hidden seeds. The failures of a catalogue are published with their
    symptoms, so hiding the seed would hide little."""
    if split not in splits():
        raise BadInput(f"a private split is drawn like one of {', '.join(splits())}, got {split!r}")
    return make_scenario(split=split).version


def hidden_scenario(
    secret: Secret, series: str, split: str, tier: Tier, seed: int, version: str | None = None
) -> Scenario:
    """``version``: of the pack for which the submission was opened."""
    present = version_of(split)
    drawn = hidden_seed(secret, series, split, tier, seed)
    pack = splits()[split]
    require_version(pack, present if version is None else version)
    return make_scenario(pack=pack, split=split, tier=tier, seed=drawn)
