"""Tells the agents when to act. It has no key of theirs: what an agent does, it does itself.

The acts of a minute are done one after the other, in the order of the plan, so the same plan always
leaves the same feed and the same log.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.live.control.plane import OPERATOR, Plane, Refused
from chaosops.live.plan import PlannedAct

_PATIENCE_S = 10.0


class Director:
    def __init__(self, plane: Plane, acts: Sequence[PlannedAct]) -> None:
        self._plane = plane
        self._acts = acts
        self._channels: dict[str, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
        self._directing = asyncio.Lock()

    async def welcome(self, ends: Mapping[str, socket.socket]) -> None:
        """Take the key that each agent has drawn, from a channel that only this agent has."""
        for name, end in ends.items():
            self._channels[name] = await asyncio.open_connection(sock=end)
            hello = await self._read(name)
            self._plane.register(name, bytes.fromhex(hello["key"]))

    async def open(self, address: Path) -> None:
        for name in self._channels:
            await self._ask(name, {"address": str(address)})

    async def begin(self, author: str, request: dict[str, Any]) -> None:
        """Play all minutes up to this one."""
        minute = request.get("minute")
        if author != OPERATOR or type(minute) is not int:
            raise Refused(403, "the operator begins minutes, by their number")
        async with self._directing:
            last = self._plane.minute
            due = {act.at for act in self._acts if act.at <= minute}
            for at in sorted(due | {minute}):
                if at == minute or last is None or at > last:
                    self._plane.begin(at)
                    await self._play(at)

    async def _play(self, at: int) -> None:
        for place, act in enumerate(self._acts):
            if act.at != at:
                continue
            if act.author in self._channels:
                await self._ask(act.author, {"act": place})
            elif act.real:  # a human's, or the infrastructure's
                wanted = {"service": act.service, "setting": act.setting, "after": act.after}
                await self._plane.change(OPERATOR, {**wanted, "by": act.author, "order": act.order})

    async def errand(self, author: str, request: dict[str, Any]) -> bool:
        """An agent changes something that was not in its plan. False if it was refused."""
        agent = request.get("agent")
        if author != OPERATOR or agent not in self._channels:
            raise Refused(404, f"no agent {str(agent)[:40]!a}")
        wanted = {name: request.get(name) for name in ("service", "setting", "after", "order")}
        async with self._directing:
            answer = await self._ask(agent, {"change": wanted})
        return bool(answer["done"])

    def close(self) -> None:
        for _, writer in self._channels.values():
            writer.close()

    async def _ask(self, name: str, message: dict[str, Any]) -> dict[str, Any]:
        _, writer = self._channels[name]
        writer.write(json.dumps(message).encode() + b"\n")
        return await self._read(name)

    async def _read(self, name: str) -> dict[str, Any]:
        reader, _ = self._channels[name]
        try:
            line = await asyncio.wait_for(reader.readline(), _PATIENCE_S)
        except (TimeoutError, OSError):
            line = b""
        if not line:
            raise BadInput(f"agent {name} does not answer; this run is void")
        answer: dict[str, Any] = json.loads(line)
        if error := answer.get("error"):
            raise BadInput(f"agent {name}: {error}")
        return answer
