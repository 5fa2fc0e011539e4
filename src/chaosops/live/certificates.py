"""Certificates of the company: an authority of its own, and one identity for each TLS service."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate

LONG_S = 24 * 3600.0


class Authority:
    """Its key is in memory only, in the processes that issue certificates."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "certificates"
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.key = _new_key()
        self.certificate = _signed("company authority", self.key, None, LONG_S, self)
        _write(self.folder / "authority.pem", _pem(self.certificate))

    def issue(self, service: str, seconds: float = LONG_S) -> Path:
        """A new identity for a service, valid from now on for so many seconds. The file has the
        certificate and its key, and is replaced in one step."""
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
        )

        key = _new_key()
        certificate = _signed(service, key, self.certificate, seconds, self)
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        path = self.folder / f"{service}.pem"
        _write(path, _pem(certificate) + private)
        return path


def _new_key() -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _signed(
    name: str,
    key: EllipticCurvePrivateKey,
    issuer: Certificate | None,
    seconds: float,
    by: Authority,
) -> Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256

    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    authority_id = x509.SubjectKeyIdentifier.from_public_key(by.key.public_key())
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=issuer is None,
        crl_sign=issuer is None,
        encipher_only=False,
        decipher_only=False,
    )
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer is not None else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(seconds=seconds))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if issuer is not None:
        names = x509.SubjectAlternativeName([x509.DNSName(name)])
        identifier = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(authority_id)
        builder = builder.add_extension(names, critical=False)
        builder = builder.add_extension(identifier, critical=False)
    return builder.sign(by.key, SHA256())


def _pem(certificate: Certificate) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)


def _write(path: Path, content: bytes) -> None:
    partial = path.with_suffix(".partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
    os.replace(partial, path)
