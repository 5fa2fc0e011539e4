"""The parent of all processes of a company: ``python -m chaosops.live.parent FOLDER``.

It has one thread, has imported what its children need, and forks them in milliseconds. It holds
the sockets they listen on, so that a replica that is replaced loses no connection: the kernel lets
callers wait. It does what the control process asks for, and ends everything when the control
process, PostgreSQL or its own starter ends.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaosops.core.errors import ChaosOpsError
from chaosops.live import postgres
from chaosops.live.children import fork, name_process
from chaosops.live.faults import add_fault
from chaosops.live.folder import hold, remove, write_facts
from chaosops.live.plan import CompanyPlan

if TYPE_CHECKING:
    from chaosops.live.replica import Surroundings

_END_S = 2.0  # how long PostgreSQL may take to end


class Parent:
    def __init__(
        self, folder: Path, plan: CompanyPlan, owned: bool, operator: bool, cores: set[int]
    ) -> None:
        self.folder = folder
        self.plan = plan
        self.owned = owned
        self.operator = operator
        self.cores = cores
        self.key = b""
        self.lock = hold(folder)
        self.listening: dict[tuple[str, int], socket.socket] = {}
        self.own: list[socket.socket] = []
        self.children: dict[int, str] = {}
        self.essential: dict[int, str] = {}
        self.reason = ""
        self._wake_in, self._wake_out = os.pipe()
        self._janitor_in, self._janitor_out = os.pipe()
        self._buffer = b""
        self.datagrams: socket.socket
        self.surroundings: Surroundings
        self.control_end: socket.socket

    # Starting.

    def run(self) -> None:
        from chaosops.live import janitor

        for one in (self._wake_in, self._wake_out):
            os.set_blocking(one, False)
        signal.set_wakeup_fd(self._wake_out)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        self.janitor = janitor.start(self.folder, self._janitor_in, self._janitor_out)
        try:
            self._start()
            self._loop()
        except ChaosOpsError as error:
            tell({"error": str(error)})
        except OSError as error:  # no port, no room or no process is left
            self.reason = f"{error.strerror or error}"
        finally:
            self._end()

    def _start(self) -> None:
        making = postgres.initialise(self.folder)
        from chaosops.live import processes  # imports what all children need

        processes.warm_up()
        os.sched_setaffinity(0, self.cores)  # PostgreSQL is set up on any core, meanwhile
        # Before there is any key or certificate: a child has all that its parent remembers.
        agents = processes.start_agents(self)
        self.key = os.urandom(32)
        surroundings = processes.surroundings(self)
        gc.collect()
        gc.freeze()  # children share these pages as long as nobody touches them
        postgres.require_initialised(self.folder, making)
        pid = postgres.launch(self.folder)
        self.children[pid] = self.essential[pid] = "postgres"
        self.control_end = processes.start_control(self, surroundings, agents)
        self.surroundings = surroundings
        facts: dict[str, object] = {"pid": os.getpid(), "begin": time.time()}
        facts["owned"] = self.owned
        write_facts(self.folder, facts)

    def listen(self, service: str, slot: int) -> socket.socket:
        """The socket of a replica. It is made once, and outlives those who serve it."""
        known = self.listening.get((service, slot))
        if known is None:
            known = socket.create_server(("127.0.0.1", 0), backlog=256)
            known.setblocking(False)
            self.listening[service, slot] = known
        return known

    def fork(
        self, name: str, body: Callable[[], None], keep: tuple[socket.socket, ...] = ()
    ) -> int:
        def child() -> None:
            self._close_in_child(keep)
            body()

        pid = fork(f"co-{name}", child)
        self.children[pid] = name
        return pid

    def _close_in_child(self, keep: tuple[socket.socket, ...]) -> None:
        for one in (*self.listening.values(), *self.own):
            if one not in keep:
                one.close()
        for descriptor in (self._wake_in, self._wake_out, self._janitor_out, self.lock):
            os.close(descriptor)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.close(nothing)

    # Running.

    def _on_signal(self, number: int, _: object) -> None:
        if number != signal.SIGCHLD:
            self.reason = self.reason or "asked to end"

    def _loop(self) -> None:
        waiting = [self._wake_in, self.control_end.fileno(), *([0] if self.owned else [])]
        while not self.reason:
            ready, _, _ = select.select(waiting, [], [], 5.0)
            if self._wake_in in ready:
                with suppress(BlockingIOError):
                    os.read(self._wake_in, 4096)
            if 0 in ready and not os.read(0, 4096):
                self.reason = "its starter ended"
            if self.control_end.fileno() in ready:
                self._listen_to_control()
            self._reap()

    def _listen_to_control(self) -> None:
        data = self.control_end.recv(1 << 16)
        if not data:
            self.reason = self.reason or "the control process ended"
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self._obey(json.loads(line))

    def _obey(self, asked: Mapping[str, Any]) -> None:
        from chaosops.live import processes

        match asked["do"]:
            case "spawn":
                service, slot = asked["service"], asked["slot"]
                pid, port = processes.start_replica(self, self.surroundings, service, slot)
                self._report(
                    {"event": "started", "service": service, "slot": slot, "pid": pid}
                    | {"port": port}
                )
            case "signal":
                if asked["pid"] in self.children:
                    os.kill(asked["pid"], asked["signal"])
            case "ready":
                tell({"ready": True})
            case "end":
                self.reason = asked.get("why") or "asked to end"

    def _report(self, event: Mapping[str, Any]) -> None:
        with suppress(OSError):
            self.control_end.sendall(json.dumps(event).encode() + b"\n")

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            name = self.children.pop(pid, "")
            if pid in self.essential:
                self.reason = self.reason or f"{name} ended"
            elif name:
                self._report({"event": "ended", "pid": pid, "status": status})

    # Ending.

    def _end(self) -> None:
        for pid, name in self.children.items():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT if name == "postgres" else signal.SIGKILL)
        until = time.monotonic() + _END_S
        while self.children and time.monotonic() < until:
            self._reap()
            time.sleep(0.01)
        for pid in self.children:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        words = _last_words(self.folder / "parent.log")
        remove(self.folder)
        tell({"ended": self.reason, "log": words})


def _last_words(log: Path) -> str:
    """What a child wrote before it ended: the last line of an error."""
    try:
        lines = log.read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    if os.environ.get("CHAOSOPS_LIVE_DEBUG"):
        return "\n".join(lines)
    return lines[-1] if lines else ""


def tell(what: Mapping[str, Any]) -> None:
    """Tell the starter, if it still listens."""
    with suppress(OSError):
        os.write(1, json.dumps(what).encode() + b"\n")


def main(folder: Path, owned: bool, own_faults: Sequence[str] = ()) -> None:
    name_process("co-parent")
    for source in own_faults:
        add_fault(source)
    wire = json.loads((folder / "plan.json").read_bytes())
    with suppress(PermissionError):  # only root may: the host's other work disturbs less then
        os.nice(-15)
    plan = CompanyPlan.from_wire(wire["plan"])
    Parent(folder, plan, owned, wire["operator"], set(wire["cores"])).run()


if __name__ == "__main__":
    more = [one for one in sys.argv[2:] if one != "--stay"]
    main(Path(sys.argv[1]), owned="--stay" not in sys.argv, own_faults=more)
