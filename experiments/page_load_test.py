"""The page under load: spectators of recorded cases beside people who play.

    python experiments/page_load_test.py --out results/page_load.json

Each spectator opens a case, accuses somebody and watches a recorded episode, then another. Each
player has a seat beside scripted partners and makes its moves. All pause in between, more briefly
than people do. An answer counts from its request to its last byte. The command fails if the 99th
percentile of all answers is above ``--limit-ms``, or if any answer is an error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx
from server_process import Server, cpu_seconds, footprint, started

NOOP = {"action": "noop"}
SEAT = {"pack": "arena", "split": "test", "tier": "hard", "role": "oversight"}


class Load:
    """``kinds`` holds the seconds of every answer by its kind."""

    def __init__(self, url: str, seconds: float, pauses: tuple[float, float]) -> None:
        self._ends = time.perf_counter() + seconds
        self._url = url
        self._spectator_pause, self._player_pause = pauses
        self.kinds: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []

    async def run(self, spectators: int, players: int) -> None:
        room = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=self._url, timeout=60, limits=room) as client:
            listed = (await client.get("/api/cases")).json()["cases"]
            names = [case["name"] for case in listed]
            await asyncio.gather(
                *(self._watch(client, random.Random(i), names) for i in range(spectators)),
                *(self._play(client, random.Random(1000 + i), i) for i in range(players)),
            )

    @property
    def _goes_on(self) -> bool:
        return time.perf_counter() < self._ends

    async def _ask(self, kind: str, client: httpx.AsyncClient, *how: Any, **more: Any) -> str:
        began = time.perf_counter()
        answer = await client.request(*how, **more)
        self.kinds[kind].append(time.perf_counter() - began)
        if answer.status_code >= 400:
            self.errors.append(f"{kind}: {answer.status_code} {answer.text[:120]}")
        return answer.text

    async def _watch(
        self, client: httpx.AsyncClient, dice: random.Random, names: list[str]
    ) -> None:
        await asyncio.sleep(dice.random() * self._spectator_pause)
        while self._goes_on:
            name = dice.choice(names)
            case = json.loads(await self._ask("case", client, "GET", f"/api/cases/{name}"))
            await self._pause(dice, self._spectator_pause)
            accused = {"accused": dice.choice([*case["agents"], "nobody"])}
            await self._ask("reveal", client, "POST", f"/api/cases/{name}/reveal", json=accused)
            policy = dice.choice(case["policies"])["policy"]
            path = f"/api/cases/{name}/replay"
            await self._ask("replay", client, "GET", path, params={"policy": policy})
            await self._pause(dice, self._spectator_pause)

    async def _play(self, client: httpx.AsyncClient, dice: random.Random, number: int) -> None:
        await asyncio.sleep(dice.random() * self._player_pause)
        game = 0
        while self._goes_on:
            game += 1
            params = {**SEAT, "seed": str(1000 * number + game), "partners": "heuristic"}
            told = await self._ask("seat", client, "POST", "/api/seats", params=params)
            seat = json.loads(told.partition("\n")[0]).get("seat", "")
            while seat and self._goes_on and '"your_turn"' in told:
                await self._pause(dice, self._player_pause)
                path = f"/api/seats/{seat}/moves"
                told = await self._ask("move", client, "POST", path, json=NOOP)
            if seat and '"over"' not in told:
                await self._ask("leave", client, "POST", f"/api/seats/{seat}/leave")

    async def _pause(self, dice: random.Random, about: float) -> None:
        await asyncio.sleep(about * (0.5 + dice.random()))


def percentiles(seconds: list[float]) -> dict[str, float]:
    ranked = sorted(seconds)
    last = len(ranked) - 1
    shares = {"p50_ms": 0.5, "p99_ms": 0.99, "max_ms": 1.0}
    return {name: round(1e3 * ranked[int(last * share)], 1) for name, share in shares.items()}


def measure(server: Server, args: argparse.Namespace) -> dict[str, Any]:
    warm = Load(server.url, 3, (0.2, 0.2))
    asyncio.run(warm.run(8, 2))  # what is computed once is not measured
    before = cpu_seconds(server.process)
    load = Load(server.url, args.seconds, (args.spectator_pause, args.player_pause))
    asyncio.run(load.run(args.spectators, args.players))
    answers = [one for some in load.kinds.values() for one in some]
    return {
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "spectators": args.spectators,
        "players": args.players,
        "seconds": args.seconds,
        "answers": len(answers),
        **percentiles(answers),
        "kinds": {
            kind: {"answers": len(some), **percentiles(some)} for kind, some in load.kinds.items()
        },
        "server_cores": round((cpu_seconds(server.process) - before) / args.seconds, 2),
        **footprint(server.process),
        "errors": len(load.errors),
        "first_errors": load.errors[:3],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--spectators", type=int, default=64)
    parser.add_argument("--players", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--spectator-pause", type=float, default=4, help="seconds on average")
    parser.add_argument("--player-pause", type=float, default=2, help="seconds on average")
    parser.add_argument("--limit-ms", type=float, default=200)
    parser.add_argument("--out", type=Path, default=Path("results/page_load.json"))
    args = parser.parse_args()
    # Here one client makes the requests of all, and has what all of them may have.
    most = {"requests": 100_000, "seats": 64, "episodes": 32, "connections": 1024}
    room = [
        word
        for name, value in most.items()
        for option in (f"--max-{name}", f"--max-{name}-per-client")
        for word in (option, str(value))
    ]
    with started("-m", "chaosops", "serve", "--port", "PORT", *room) as server:
        figures = measure(server, args)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))
    if figures["errors"] or figures["p99_ms"] > args.limit_ms:
        raise SystemExit(f"p99 {figures['p99_ms']} ms, errors {figures['errors']}")


if __name__ == "__main__":
    main()
