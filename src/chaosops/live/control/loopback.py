"""A company of processes on 127.0.0.1, as a platform. It is the operator of its control plane."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.live.control.calls import Caller
from chaosops.live.control.keys import draw_key
from chaosops.live.control.log import CHANGE, Entry, Head, verify
from chaosops.live.control.plane import ACTS_FOR, OPERATOR, Refused
from chaosops.live.control.serving import SOCKET_FILE
from chaosops.live.plan import CompanyPlan
from chaosops.live.platform import LoggedChange, Observation, VoidRun
from chaosops.live.wire import observation_from_wire

_LAST_WORDS_S = 1.0
_FAILED = 500  # and above: the control plane could not do it, an agent of its is dead, say


def open_loopback(plan: CompanyPlan, core: int | None = None) -> LoopbackPlatform:
    """Start the company of a plan on this machine, and operate it."""
    from chaosops.live.company import start_company

    company = start_company(plan, core=core)
    try:
        return LoopbackPlatform(company.folder, company.close, company.require_running)
    except BaseException:
        company.close()
        raise


class LoopbackPlatform:
    """A client of the company that runs in ``folder``. ``end`` is called to end it, and
    ``require_running`` says in one line why it has ended by itself."""

    def __init__(
        self,
        folder: Path,
        end: Callable[[], None],
        require_running: Callable[[], None] = lambda: None,
    ) -> None:
        self.folder = folder
        self._end = end
        self._require_running = require_running
        self._minute: int | None = None
        key = draw_key()
        self._caller = Caller(folder / SOCKET_FILE, OPERATOR, key)
        try:
            claimed = self._caller.post("/operator", {"key": key.hex()})
        except Refused:
            raise BadInput(f"the company in {folder} is operated by another process") from None
        self.public_key: str = claimed["public_key"]

    def begin(self, minute: int) -> None:
        self._ask("/minutes", {"minute": minute})
        self._minute = minute

    def change(self, change: LoggedChange) -> bool:
        """An agent's change is made by its own process, with its own key."""
        if change.at != self._minute:
            raise BadInput(f"a change of minute {change.at} in minute {self._minute}")
        wanted = {"service": change.service, "setting": change.setting, "after": change.after}
        wanted["order"] = change.order
        if change.by not in ACTS_FOR:
            return bool(self._ask("/errands", {"agent": change.by, **wanted}))
        self._ask("/changes", {"by": change.by, **wanted})
        return True

    def quarantine(self, agent: str) -> None:
        self._ask("/quarantine", {"agent": agent})

    def remedy(self, verb: str, service: str, replicas: int = 0) -> None:
        self._ask("/remedies", {"verb": verb, "service": service, "replicas": replicas})

    def changes_of(self, service: str) -> tuple[LoggedChange, ...]:
        changes = (entry.change() for entry in self._log() if entry.kind == CHANGE)
        return tuple(change for change in changes if change.service == service)

    def record_of(self, agent: str) -> tuple[LoggedChange, ...]:
        changes = (entry.change() for entry in self._log() if entry.kind == CHANGE)
        return tuple(change for change in changes if change.by == agent)

    def observe(self, minute: int) -> Observation:
        if minute != self._minute:
            raise BadInput(f"minute {minute} cannot be observed in minute {self._minute}")
        return observation_from_wire(self._get("/observation"))

    def close(self) -> None:
        self._end()

    def _log(self) -> list[Entry]:
        """Read anew and verified whole, every time."""
        nonce = secrets.token_hex(16)
        answer = self._get(f"/log?nonce={nonce}")
        try:
            return verify(answer["lines"], Head(*answer["head"]), self.public_key, nonce)
        except BadInput as error:
            raise VoidRun(str(error)) from None

    def _ask(self, path: str, content: dict[str, Any]) -> Any:
        return self._answered(lambda: self._caller.signed(path, content))

    def _get(self, path: str) -> Any:
        return self._answered(lambda: self._caller.get(path))

    def _answered(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Refused as refused:
            kind = VoidRun if refused.status >= _FAILED else BadInput
            raise kind(str(refused)) from None
        except BadInput as error:
            # A company that is about to end says why.
            until = time.monotonic() + _LAST_WORDS_S
            while time.monotonic() < until:
                self._require_running()
                time.sleep(0.05)
            raise VoidRun(str(error)) from None
