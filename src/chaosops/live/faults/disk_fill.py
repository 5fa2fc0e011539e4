"""Files are kept for longer than the volume has room for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chaosops.live.faults import Fault, Part, Proceed
from chaosops.live.plan import SettingPlan

if TYPE_CHECKING:
    from chaosops.live.replica import Call, Replica
    from chaosops.live.services import Spool

_FULL_AT_THRESHOLD = 0.59  # of the volume is in use where retention is as long as it may be
_SEGMENT = 0.05  # of the volume: what the journal grows by with each request


class DiskFill(Fault):
    """An hour is as long as it takes to write one file, so retention in hours is their number."""

    mechanism = "disk_fill"
    setting = "retention_h"
    harmful = 1
    services = ("receipts", "outbox")
    usual = 48
    remedy = "purge"
    logs = (
        "write failed: no space left",
        "could not extend segment {n}",
        "checkpoint postponed, volume short",
    )

    def blocks(self, size: SettingPlan) -> float:
        """The size of the volume. A file takes one block.

        >>> size = SettingPlan("receipts", "disk_fill", "retention_h", 48, 30)
        >>> round(DiskFill().blocks(size)), round(DiskFill().knee(size))
        (106, 64)
        """
        return size.usual * (1 + size.threshold_pct / 100) / _FULL_AT_THRESHOLD

    def part(self, replica: Replica, size: SettingPlan) -> Part:
        return Volume(replica, size, self.blocks(size), self.knee(size))


class Volume(Part):
    """A checkpoint copies all files before it empties the journal. Where there are too many for
    that, it is postponed, and the journal fills the rest of the volume. Everything is counted in
    the folder itself, so that a restart changes nothing."""

    def __init__(self, replica: Replica, size: SettingPlan, blocks: float, room: float) -> None:
        super().__init__(replica, size)
        self.blocks = blocks
        self.room = room
        """For how many files a checkpoint has room."""
        self.spool: Spool = replica.shared["spool"]
        self.journal = replica.folder / "journal"
        self.journal.mkdir(exist_ok=True)
        self.failures = 0
        replica.reporter.gauges["disk_pct"] = lambda: round(100 * self.used(), 1)
        self.changed()

    def used(self) -> float:
        """The share of the volume."""
        segments = sum(1 for _ in self.journal.iterdir())
        return min(1.0, len(self.spool.files()) / self.blocks + segments * _SEGMENT)

    def changed(self) -> None:
        """Files that are older than the retention are deleted at once."""
        self.spool.most = self.value
        self.spool.trim()
        self.checkpoint()

    def checkpoint(self) -> None:
        if len(self.spool.files()) <= self.room:
            self._empty_journal()
            return
        (self.journal / f"{sum(1 for _ in self.journal.iterdir())}").touch()
        self.replica.log("WARN", "checkpoint postponed, volume short")

    def _empty_journal(self) -> None:
        for segment in self.journal.iterdir():
            segment.unlink(missing_ok=True)

    async def around(self, call: Call, proceed: Proceed) -> Any:
        if self.used() >= 1:
            raise self._no_space()
        answer = await proceed()
        self.checkpoint()
        return answer

    def _no_space(self) -> Exception:
        self.failures += 1
        lines: tuple[Callable[[], str], ...] = (
            lambda: "write failed: no space left",
            lambda: f"could not extend segment {sum(1 for _ in self.journal.iterdir())}",
            lambda: "checkpoint postponed, volume short",
        )
        line = lines[self.failures % 3]()
        self.replica.log("ERROR", line)
        return self.replica.failed(line)


FAULT = DiskFill()
