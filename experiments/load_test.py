"""The server under load: many sessions at once, beside OpenEnv's echo; then sessions dropped.

    python experiments/load_test.py --out results/load.json

Every answer is compared with the same episode played in this process. A wrong reward, view or
episode id would show that sessions are mixed up. Many sessions are then cut off in mid-episode,
to see whether the server frees them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from episode_scripts import Script, echo_script, scripts_of
from server_process import Server, connect_to, cpu_seconds, footprint, started

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

HERE = Path(__file__).parent
ECHOES = ("echo", "echo tools")
# What is played, and what is told of it: all, or the prompt alone.
KINDS = {
    "classic": ("classic", None),
    "classic prompts": ("classic", ["messages"]),
    "arena": ("arena", None),
    "arena prompts": ("arena", ["messages"]),
}


class Answer(NamedTuple):
    script: int
    step: int
    session: str
    text: str


class Load:
    """``sessions`` WebSockets that play one after the other of their scripts."""

    def __init__(self, url: str, scripts: list[Script]) -> None:
        self._url = url
        self._scripts = scripts
        self.latencies: list[float] = []
        self.answers: list[Answer] = []

    async def run(self, sessions: int, steps: int) -> float:
        """The seconds that all steps took together."""
        sockets = [await connect_to(self._url) for _ in range(sessions)]
        share = [steps // sessions + (i < steps % sessions) for i in range(sessions)]
        start = time.perf_counter()
        await asyncio.gather(*map(self._session, range(sessions), sockets, share))
        elapsed = time.perf_counter() - start
        for open_socket in sockets:
            await open_socket.close()
        return elapsed

    async def _session(self, number: int, socket_: ClientConnection, steps: int) -> None:
        place = number
        while steps > 0:
            place = (place + 1) % len(self._scripts)
            script = self._scripts[place]
            episode = f"{number}-{place}-{steps}"
            reset = script.reset.replace('"data": {', f'"data": {{"episode_id": "{episode}", ', 1)
            await self._ask(socket_, reset, place, 0, episode)
            for step, message in enumerate(script.steps[:steps], 1):
                await self._ask(socket_, message, place, step, episode)
            steps -= len(script.steps)

    async def _ask(
        self, socket_: ClientConnection, message: str, place: int, step: int, episode: str
    ) -> None:
        start = time.perf_counter()
        await socket_.send(message)
        text = await socket_.recv()
        self.latencies.append(time.perf_counter() - start)
        self.answers.append(Answer(place, step, episode, str(text)))

    def mistakes(self) -> list[str]:
        found = []
        for answer in self.answers:
            expected = self._scripts[answer.script].expected[answer.step]
            message = json.loads(answer.text)
            content = message["data"]
            if message["type"] != "observation":
                found.append(answer.text[:200])
                continue
            shown = content["observation"]
            right = (
                shown["episode_id"] == answer.session
                and content["reward"] == expected["reward"]
                and shown["view"] == expected["view"]
                and shown["messages"] == expected["messages"]
            )
            if not right:
                found.append(f"{answer.session} step {answer.step}: another episode's answer")
        return found


class EchoLoad(Load):
    def mistakes(self) -> list[str]:
        return [a.text[:200] for a in self.answers if '"observation"' not in a.text[:40]]


def measure(
    servers: dict[str, Server], sessions: int, steps: int, rounds: int
) -> dict[str, dict[str, Any]]:
    """Rounds of all servers alternate, so that a busy moment of the machine affects all."""
    kinds: dict[str, list[Script]] = {kind: [echo_script(kind)] for kind in ECHOES}
    kinds |= {kind: scripts_of(*asked) for kind, asked in KINDS.items()}
    sums = {kind: _Sum() for kind in kinds}
    for _ in range(rounds):
        for kind, scripts in kinds.items():
            place = servers.get(kind, servers["chaosops"])
            load = (EchoLoad if kind in ECHOES else Load)(place.url, scripts)
            total = sums[kind]
            total.cpu_s -= cpu_seconds(place.process)
            total.seconds += asyncio.run(load.run(sessions, steps // rounds))
            total.cpu_s += cpu_seconds(place.process)
            total.latencies += load.latencies
            total.mistakes += load.mistakes()
    played = steps // rounds * rounds
    return {
        kind: {
            "steps": played,
            "sessions": sessions,
            "steps_per_s": round(played / total.seconds, 1),
            **_percentiles(total.latencies),
            "server_cpu_us_a_step": round(1e6 * total.cpu_s / played),
            **{
                f"times_{e.replace(' ', '_')}": round(total.seconds / sums[e].seconds, 2)
                for e in ECHOES
            },
            "mistakes": len(total.mistakes),
            "first_mistakes": total.mistakes[:3],
        }
        for kind, total in sums.items()
    }


@dataclass
class _Sum:
    seconds: float = 0.0
    cpu_s: float = 0.0
    latencies: list[float] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)


def _percentiles(latencies: list[float]) -> dict[str, float]:
    ranked = sorted(latencies)
    last = len(ranked) - 1
    shares = {"p50_ms": 0.5, "p99_ms": 0.99, "max_ms": 1.0}
    return {name: round(1e3 * ranked[int(last * share)], 1) for name, share in shares.items()}


def drop_sessions(server: Server, count: int, at_once: int) -> dict[str, Any]:
    """Open sessions, play some turns, cut the connections. The server has room for ``at_once``."""
    asyncio.run(
        _drop(server.url, at_once * 2, at_once)
    )  # warm up: what is loaded once is not a leak
    before = footprint(server.process)
    refused = asyncio.run(_drop(server.url, count, at_once))
    after = footprint(server.process)
    return {"dropped": count, "refused": refused, "before": before, "after": after}


async def _drop(url: str, count: int, at_once: int) -> int:
    script = scripts_of("arena")[0]
    refused = 0

    async def cut_off() -> None:
        nonlocal refused
        line = await connect_to(url)
        try:
            for message in (script.reset, *script.steps[:3]):
                await line.send(message)
                refused += '"type":"error"' in str(await line.recv())[:20]
        finally:
            line.transport.abort()

    for start in range(0, count, at_once):
        await asyncio.gather(*(cut_off() for _ in range(min(at_once, count - start))))
        await asyncio.sleep(0.1)  # a cut wire has to be noticed
    await asyncio.sleep(1)
    return refused


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20_000, help="of each kind")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--drops", type=int, default=1000, help="sessions cut off in mid-episode")
    parser.add_argument("--out", type=Path, default=Path("results/load.json"))
    args = parser.parse_args()
    serve = ("-m", "chaosops", "serve", "--port", "PORT", "--no-web")
    # Here one client makes the requests of all, and is faster than one client may be.
    unpaced = ("--max-requests", "100000", "--max-requests-per-client", "100000")
    places = ("--max-sessions", str(args.sessions), "--max-sessions-per-client", str(args.sessions))
    echo = (str(HERE / "echo_server.py"), "PORT")
    with (
        started(*serve, *places, *unpaced) as chaosops,
        started(*echo, "plain") as plain,
        started(*echo, "tools") as tools,
    ):
        servers = {"chaosops": chaosops, "echo": plain, "echo tools": tools}
        figures = {
            "cores": os.cpu_count(),
            "load": measure(servers, args.sessions, args.steps, args.rounds),
            "drops": drop_sessions(chaosops, args.drops, args.sessions),
        }
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
