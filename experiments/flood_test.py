"""The server under attack: how fast many sessions are while somebody floods the server.

    python experiments/flood_test.py --out results/flood.json

Loopback only, limited in count and in time. The server runs with its defaults and 1,024 open
files, and has a log. The sessions and the flood come from one address. This is the hardest case,
because the sessions share all quotas of a client with the attacker. Each flood is measured between
two calm periods, and has a process of its own. Meanwhile a new client from another address asks
for /health and plays a turn.
"CPU left" is the share of the server's CPU time that went into the sessions. It does not depend on
the CPU time of attackers and others on the same machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from episode_scripts import scripts_of
from server_process import Server, address_of, connect_to, cpu_seconds, raw_request, started

FILES = 1024
CLIENTS = 16  # of a flood of requests
NEWCOMER = ("127.0.0.2", 0)
PAUSE_S = 0.5  # until a flood has begun, or has ended


class Sessions:
    """WebSockets that play all the time; ``steps`` counts their answers."""

    def __init__(self, url: str, count: int) -> None:
        self._url = url
        self._count = count
        self._scripts = scripts_of("arena")
        self.steps = 0

    async def start(self) -> None:
        lines = [await connect_to(self._url) for _ in range(self._count)]
        self.players = [asyncio.create_task(self._play(i, line)) for i, line in enumerate(lines)]

    async def _play(self, number: int, line: Any) -> None:
        place = number
        while True:
            script = self._scripts[place % len(self._scripts)]
            for message, expected in zip(
                (script.reset, *script.steps), script.expected, strict=True
            ):
                await line.send(message)
                answer = json.loads(await line.recv())
                if answer["data"].get("reward") != expected["reward"]:
                    raise SystemExit(f"a wrong answer under load: {answer}")
                self.steps += 1
            place += 1

    async def rate(self, seconds: float) -> float:
        """Steps a second, measured for this time."""
        before, start = self.steps, time.perf_counter()
        await asyncio.sleep(seconds)
        for player in self.players:
            if player.done():
                player.result()
        return (self.steps - before) / (time.perf_counter() - start)


async def newcomer(url: str, script: Any) -> float:
    """Seconds until a new client has asked /health and played a turn."""
    start = time.perf_counter()
    host, port = address_of(url)
    reader, writer = await asyncio.open_connection(host, port, local_addr=NEWCOMER)
    writer.write(raw_request("GET", "/health", b"", port))
    status = await reader.readline()
    if b"200" not in status:
        raise SystemExit(f"/health answered {status!r}")
    writer.close()
    line = await connect_to(url, local_addr=NEWCOMER)
    await line.send(script.reset)
    if '"observation"' not in str(await line.recv())[:40]:
        raise SystemExit("a newcomer got no episode")
    await line.close()
    return time.perf_counter() - start


class Attack(NamedTuple):
    """One request of one attacker. All attackers repeat it at once."""

    attackers: int
    once: Callable[[str, int], Awaitable[None]]


def asking(method: str, path: str, body: bytes = b"", *, again: bool = True) -> Attack:
    """Requests as fast as answers come, on one connection or on a new one each."""

    async def once(host: str, port: int) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        try:
            while True:
                writer.write(raw_request(method, path, body, port))
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
                await reader.readexactly(length)
                if not again:
                    return
        finally:
            writer.close()

    return Attack(CLIENTS, once)


def dripping(count: int, start: bytes) -> Attack:
    """A request of which a byte comes each second."""

    async def once(host: str, port: int) -> None:
        _, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(start)
            while not writer.is_closing():
                await asyncio.sleep(1)
                writer.write(b"x")
        finally:
            writer.close()

    return Attack(count, once)


def half_open(count: int) -> Attack:
    """Connections that say nothing."""

    async def once(host: str, port: int) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        try:
            await reader.read()
        finally:
            writer.close()

    return Attack(count, once)


RANGE = b'{"split": "train", "start": 0, "stop": 1000}'


def attacks(sockets: int) -> dict[str, Attack]:
    return {
        "GET /api/results": asking("GET", "/api/results"),
        "GET /api/training": asking("GET", "/api/training"),
        "GET /api/training, new connections": asking("GET", "/api/training", again=False),
        "POST /tables": asking("POST", "/tables", b'{"split": "train"}'),
        "POST /chaosops/task_range": asking("POST", "/chaosops/task_range", RANGE),
        "POST /reset": asking("POST", "/reset", b'{"split": "train"}'),
        "slow headers": dripping(sockets // 4, b"GET / HTTP/1.1\r\nX-Slow: "),
        "slow bodies": dripping(
            sockets // 4,
            b"POST /tables HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n",
        ),
        "half-open connections": half_open(sockets),
    }


async def flood(url: str, attack: Attack, seconds: float) -> None:
    host, port = address_of(url)
    end = time.monotonic() + seconds

    async def attacker() -> None:
        while time.monotonic() < end:
            with suppress(OSError, asyncio.IncompleteReadError):
                await attack.once(host, port)
            await asyncio.sleep(0.05)

    tasks = [asyncio.create_task(attacker()) for _ in range(attack.attackers)]
    await asyncio.sleep(PAUSE_S)
    print("begun", flush=True)
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class Spell(NamedTuple):
    """Some seconds of play."""

    steps_per_s: float
    cpu_a_step_us: float  # of the server


async def spell(sessions: Sessions, server: Server, seconds: float) -> Spell:
    cpu_s, steps = cpu_seconds(server.process), sessions.steps
    rate = await sessions.rate(seconds)
    spent_s = cpu_seconds(server.process) - cpu_s
    return Spell(rate, 1e6 * spent_s / max(1, sessions.steps - steps))


@contextmanager
def flooding(url: str, name: str, sockets: int) -> Iterator[None]:
    words = ["--flood", name, "--url", url, "--sockets", str(sockets), "--seconds", "60"]
    process = subprocess.Popen([sys.executable, __file__, *words], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        process.stdout.readline()  # it has begun
        if process.poll() is not None:
            raise SystemExit(f"the flood {name} broke")
        yield
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


async def measure(server: Server, args: argparse.Namespace) -> dict[str, Any]:
    """Rounds of a calm period, a flood and a calm period. The median round counts."""
    sessions = Sessions(server.url, args.sessions)
    await sessions.start()
    script = scripts_of("arena")[0]
    await sessions.rate(1)  # warm
    told: dict[str, Any] = {}
    for name in args.floods or attacks(args.sockets):
        rounds = []
        for _ in range(args.rounds):
            before = await spell(sessions, server, args.seconds)
            opened = flooding(server.url, name, args.sockets)
            await asyncio.to_thread(opened.__enter__)
            coming = asyncio.create_task(newcomer(server.url, script))
            under = await spell(sessions, server, args.seconds)
            served_s = await asyncio.wait_for(coming, 20)
            await asyncio.to_thread(opened.__exit__, None, None, None)
            await asyncio.sleep(PAUSE_S)
            after = await spell(sessions, server, args.seconds)
            calm = mean((before.steps_per_s, after.steps_per_s))
            cpu_us = mean((before.cpu_a_step_us, after.cpu_a_step_us))
            rounds.append(
                {
                    "calm_steps_per_s": round(calm),
                    "steps_per_s": round(under.steps_per_s),
                    "kept": round(under.steps_per_s / calm, 3),
                    "cpu_for_sessions": round(cpu_us / under.cpu_a_step_us, 3),
                    "newcomer_s": round(served_s, 2),
                }
            )
        told[name] = sorted(rounds, key=lambda one: one["kept"])[len(rounds) // 2]
        print(name, told[name], file=sys.stderr, flush=True)
    for player in sessions.players:
        player.cancel()
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each spell")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sockets", type=int, default=1100, help="of the half-open flood")
    parser.add_argument("--floods", nargs="*", help="(default: all)")
    parser.add_argument("--out", type=Path, default=Path("results/flood.json"))
    parser.add_argument("--flood", help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    args = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    if args.flood:
        asyncio.run(flood(args.url, attacks(args.sockets)[args.flood], args.seconds))
        return
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        serve = ("-m", "chaosops", "serve", "--port", "PORT")
        with started(*serve, log=log, open_files=FILES) as server:
            told = asyncio.run(measure(server, args))
        figures = {
            "cores": os.cpu_count(),
            "sessions": args.sessions,
            "sockets": args.sockets,
            "log_bytes": log.stat().st_size,
            "floods": told,
        }
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(figures, indent=1) + "\n")
    head = f"{'calm steps/s':>13}{'under it':>10}{'kept':>7}{'CPU left':>10}{'newcomer':>10}"
    print(f"{'flood':<36}{head}")
    for name, row in told.items():
        rates = f"{row['calm_steps_per_s']:>13,}{row['steps_per_s']:>10,}{row['kept']:>7.0%}"
        print(f"{name:<36}{rates}{row['cpu_for_sessions']:>10.0%}{row['newcomer_s']:>8.2f} s")
    print(f"the server's log: {figures['log_bytes']:,} bytes")


if __name__ == "__main__":
    main()
