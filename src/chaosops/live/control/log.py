"""The log of the control plane: a file of entries, each chained to those before it and signed.

Anybody may read it, and any process of the company could write to the file. So nothing in it is
believed until it is verified: against the public key, and against a fresh *head*, which says how
many entries there are and what the last link is. The control plane holds the head in memory.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.core.chain import link, read_json
from chaosops.core.errors import BadInput
from chaosops.core.files import unwritable
from chaosops.live.control.keys import Signer, is_signed
from chaosops.live.platform import LoggedChange

CHANGE, QUARANTINE = "change", "quarantine"


class Entry(NamedTuple):
    number: int
    kind: str
    at: int
    by: str
    request: int
    """Its number among the requests of whoever sent it; 0 for what the plot did itself."""
    service: str
    """Or the agent that is quarantined."""
    setting: str
    before: int
    after: int
    order: str

    def change(self) -> LoggedChange:
        return LoggedChange(
            self.at, self.by, self.service, self.setting, self.before, self.after, self.order
        )


_FIELDS = Entry._fields
_TEXTS = {"kind", "by", "service", "setting", "order", "link", "signature"}


class Head(NamedTuple):
    """How long the log is, and its last link. The reader's nonce makes an old one useless."""

    length: int
    last: str
    nonce: str
    signature: str


class Log:
    """The only writer. Its key is drawn with it and never leaves this object."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._signer = Signer()
        self.public_key = self._signer.public_key
        self._last = self.public_key  # a chain that starts elsewhere is another run's
        self._length = 0
        try:
            path.touch(mode=0o600, exist_ok=False)
        except OSError as error:
            raise unwritable(path, error, "the log") from None

    def append(self, kind: str, change: LoggedChange, request: int) -> Entry:
        entry = Entry(
            self._length + 1,
            kind,
            change.at,
            change.by,
            request,
            change.service,
            change.setting,
            change.before,
            change.after,
            change.order,
        )
        last = link(self._last, entry._asdict())
        line = {**entry._asdict(), "link": last, "signature": self._signer.sign(_entry_text(last))}
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(_line(line))
        except OSError as error:
            raise unwritable(self._path, error, "the log") from None
        self._last, self._length = last, entry.number
        return entry

    def head(self, nonce: str) -> Head:
        signature = self._signer.sign(_head_text(self._length, self._last, nonce))
        return Head(self._length, self._last, nonce, signature)

    def lines(self) -> list[str]:
        """As they stand in the file now, verified by nobody."""
        try:
            return self._path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
        except OSError:
            return []  # the head tells that they are missing


def verify(lines: Sequence[str], head: Head, public_key: str, nonce: str) -> list[Entry]:
    """The entries, if every one of them is what the control plane recorded, and none is missing.
    Raises ``BadInput`` with the first thing that is wrong."""
    if head.nonce != nonce or not is_signed(
        public_key, _head_text(head.length, head.last, head.nonce), head.signature
    ):
        raise _tampered("its head is not signed, or is an old one")
    last, entries = public_key, []
    for number, line in enumerate(lines, 1):
        content, found_link, signature = _read(line, number)
        entry = Entry(**content)
        if entry.number != number:
            raise _tampered(
                f"entry {entry.number} stands at place {number}: one was dropped, moved or repeated"
            )
        if number > head.length:
            raise _tampered(f"entry {number} was added at its end")
        if not is_signed(public_key, _entry_text(found_link), signature):
            raise _tampered(f"entry {number} is not signed by the control plane")
        last = link(last, content)
        if found_link != last:
            raise _tampered(f"entry {number} was revised, or one before it")
        entries.append(entry)
    if len(entries) < head.length:
        raise _tampered(f"{head.length - len(entries)} entries are missing at its end")
    if last != head.last:
        raise _tampered("its last link is not that of its head")
    return entries


def _read(line: str, number: int) -> tuple[dict[str, Any], str, str]:
    try:
        content = read_json(line)
    except ValueError:
        content = None
    if not isinstance(content, dict) or set(content) != {*_FIELDS, "link", "signature"}:
        raise _tampered(f"line {number} is not an entry")
    kinds = {name: str if name in _TEXTS else int for name in content}
    if any(type(value) is not kinds[name] for name, value in content.items()):
        raise _tampered(f"line {number} is not an entry")
    return {name: content[name] for name in _FIELDS}, content["link"], content["signature"]


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":")) + "\n"


def _entry_text(last: str) -> str:
    return f"entry {last}"


def _head_text(length: int, last: str, nonce: str) -> str:
    return f"head {length} {last} {nonce}"


def _tampered(how: str) -> BadInput:
    return BadInput(f"the log of the control plane was tampered with: {how}; this run is void")
