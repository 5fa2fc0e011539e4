"""PostgreSQL for one company: its binaries come from a wheel, its data live in the run folder."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import time
from pathlib import Path

from chaosops.core.errors import BadInput
from chaosops.live.children import die_with
from chaosops.live.needs import postgres_binaries

USER = DATABASE = "ledger"
MOST_CONNECTIONS = 140
_PORT = 5432  # names the socket file; nothing listens on the network

# The data live as long as an incident, so nothing is made durable.
_OPTIONS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    "max_connections": str(MOST_CONNECTIONS),
    "shared_buffers": "8MB",
    "io_method": "sync",
    "max_parallel_workers": "0",
    "max_logical_replication_workers": "0",
    "dynamic_shared_memory_type": "mmap",
    "jit": "off",
    # Only lock_timeout ends a wait for a lock, which is the setting of a fault.
    "deadlock_timeout": "10min",
    "logging_collector": "off",
    "log_min_messages": "fatal",
}


def account() -> tuple[int, int] | None:
    """The user that PostgreSQL runs as, where that is not the present one. It refuses root."""
    if os.getuid() != 0:
        return None
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise BadInput("PostgreSQL cannot run as root and there is no user nobody") from None
    return nobody.pw_uid, nobody.pw_gid


def initialise(folder: Path) -> subprocess.Popen[bytes]:
    """Begin to make an empty database. It takes half a second, in which others can start."""
    home = folder / "pg"
    home.mkdir(mode=0o700)
    who = account()
    if who is not None:
        os.chown(home, *who)
    command = [
        str(postgres_binaries() / "initdb"),
        *("-D", str(home / "data"), "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C"),
        *("--no-sync", "--no-instructions", "--no-data-checksums"),
    ]
    with (folder / "initdb.log").open("wb") as log:
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=home,
                preexec_fn=_dropper(who, signal.SIGKILL),
            )
        except (PermissionError, FileNotFoundError):
            raise _unreachable() from None


def require_initialised(folder: Path, process: subprocess.Popen[bytes]) -> None:
    if process.wait(timeout=60):
        log = (folder / "initdb.log").read_text(errors="replace").strip().splitlines()
        if not log or any("Permission denied" in line for line in log):
            raise _unreachable()
        raise BadInput(f"PostgreSQL cannot be set up: {log[-1]}")


def launch(folder: Path) -> int:
    """Start the server and give its process id. It listens on a socket in the run folder, whose
    mode keeps others out."""
    home = folder / "pg"
    options = [part for name, value in _OPTIONS.items() for part in ("-c", f"{name}={value}")]
    command = [
        str(postgres_binaries() / "postgres"),
        *("-D", str(home / "data"), "-k", str(home), "-p", str(_PORT)),
        *options,
    ]
    drop = _dropper(account(), signal.SIGQUIT)  # its own children are ended with it
    with (folder / "postgres.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=home, preexec_fn=drop
        )
    process.returncode = 0  # the parent of the company reaps it
    return process.pid


def wait_for_socket(folder: Path, limit_s: float = 20.0) -> None:
    """The server writes "ready" into a file once it accepts connections."""
    state = folder / "pg" / "data" / "postmaster.pid"
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        try:
            lines = state.read_text().splitlines()
        except OSError:
            lines = []
        if len(lines) > 7 and lines[7].strip() == "ready":
            return
        time.sleep(0.02)
    log = (folder / "postgres.log").read_text(errors="replace").strip().splitlines()
    raise BadInput(f"PostgreSQL did not start: {log[-1] if log else 'it wrote no reason'}")


def address(folder: Path) -> dict[str, object]:
    """What asyncpg needs to connect."""
    return {"host": str(folder / "pg"), "port": _PORT, "user": USER, "database": "postgres"}


def _dropper(who: tuple[int, int] | None, by: signal.Signals):  # type: ignore[no-untyped-def]
    parent = os.getpid()

    def drop() -> None:
        if who is not None:
            os.setgroups([])
            os.setgid(who[1])
            os.setuid(who[0])
        die_with(parent, by)

    return drop


def _unreachable() -> BadInput:
    where = postgres_binaries()
    if os.getuid() == 0:
        return BadInput(
            f"PostgreSQL cannot run as root, and the user nobody cannot read {where}; "
            "run it as an ordinary user, or install chaosops where everybody can read it"
        )
    return BadInput(f"cannot run PostgreSQL from {where}; install the extra live again")
