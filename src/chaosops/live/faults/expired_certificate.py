"""A certificate ends before it is renewed."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from chaosops.live.faults import Fault, Part
from chaosops.live.plan import SettingPlan

if TYPE_CHECKING:
    from chaosops.live.replica import Replica

_LEFT_DAYS = 3.0
_DAY_S = 1.0
_LOOK_S = 0.1


class ExpiredCertificate(Fault):
    """A day is a second. Each certificate is issued as if some of its days had passed already:
    its renewal is due in three."""

    mechanism = "expired_certificate"
    setting = "cert_days"
    harmful = -1
    services = ("accounts", "storefront")
    usual = 60
    remedy = "renew_cert"
    logs = (
        "handshake failed with {n} peers",
        "peer refused the identity offered",
        "trust chain not accepted",
    )

    def left_days(self, size: SettingPlan, value: int) -> float:
        """For how long a certificate is valid when three days are left until its renewal.

        >>> size = SettingPlan("accounts", "expired_certificate", "cert_days", 60, 30)
        >>> [round(ExpiredCertificate().left_days(size, value), 1) for value in (60, 43, 37)]
        [23.2, 6.2, 0.2]
        """
        return value - self.knee(size) + _LEFT_DAYS

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        return Identity(replica, size, self)


class Identity(Part):
    """The first replica has the certificate renewed, all load it from its file. The authority
    renews no certificate that is not valid any more."""

    def __init__(self, replica: Replica, size: SettingPlan, fault: ExpiredCertificate) -> None:
        super().__init__(replica, size)
        self.fault = fault
        self.path = replica.surroundings.authority.folder / f"{size.service}.pem"
        self.loaded = 0
        self.valid_until = datetime.max.replace(tzinfo=UTC)
        self.refusals = 0

    @property
    def expired(self) -> bool:
        return datetime.now(UTC) >= self.valid_until

    async def run(self) -> None:
        while "idle" not in self.replica.shared:
            await asyncio.sleep(_LOOK_S)
        tls: ssl.SSLContext = self.replica.shared["tls"]
        tls.sni_callback = self._on_handshake
        while True:
            if self.path.stat().st_mtime_ns != self.loaded:
                self._load(tls)
            if self.replica.slot == 0 and self._is_due() and not self.expired:
                self.issue()
            if self.expired:
                # Peers check an identity when they connect, so connections do not outlive it.
                for connection in self.replica.shared["idle"]():
                    connection.force_close()
            await asyncio.sleep(_LOOK_S)

    def _is_due(self) -> bool:
        age_s = datetime.now(UTC).timestamp() - self.path.stat().st_mtime
        return age_s >= _LEFT_DAYS * _DAY_S

    def issue(self) -> None:
        days = self.fault.left_days(self.size, self.value)
        self.replica.surroundings.authority.issue(self.size.service, days * _DAY_S)

    def _load(self, tls: ssl.SSLContext) -> None:
        from cryptography.x509 import load_pem_x509_certificate

        self.loaded = self.path.stat().st_mtime_ns
        tls.load_cert_chain(str(self.path))
        certificate = load_pem_x509_certificate(self.path.read_bytes())
        self.valid_until = certificate.not_valid_after_utc

    async def mend(self, verb: str) -> None:
        if verb == "renew_cert" and self.replica.slot == 0:
            self.issue()

    def _on_handshake(self, _: object, name: str, context: ssl.SSLContext) -> None:
        """A peer connects. It will refuse a certificate that has expired."""
        if not self.expired:
            return
        self.refusals += 1
        lines = (
            f"handshake failed with {self.refusals} peers",
            "peer refused the identity offered",
            "trust chain not accepted",
        )
        self.replica.log("ERROR", lines[self.refusals % 3])


FAULT = ExpiredCertificate()
