"""A fleet agent as a process. It has its own acts, its own key, and a channel to be told when."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.live.control.calls import Caller
from chaosops.live.control.keys import draw_key, hide_memory
from chaosops.live.control.plane import Refused
from chaosops.live.plan import CompanyPlan, PlannedAct

_FORBIDDEN = 403


class Agent:
    def __init__(self, name: str, acts: Mapping[int, PlannedAct], caller: Caller) -> None:
        self._name = name
        self._acts = acts
        self._caller = caller
        self._held = False

    def act(self, place: int) -> bool:
        """What is real goes to the control plane, what is shown to the feed. An agent that was
        refused has nothing to show, and tries again next time."""
        act = self._acts[place]
        if act.real:
            self.change(act.service, act.setting, act.after, act.order)
        if self._held:
            return False
        if act.shown:
            self._caller.post("/feed", act.entry())
        return True

    def change(self, service: str, setting: str, after: int, order: str) -> bool:
        wanted = {"service": service, "setting": setting, "after": after, "order": order}
        try:
            self._caller.signed("/changes", {"by": self._name, **wanted})
        except Refused as refused:
            if refused.status != _FORBIDDEN:
                raise
            self._held = True
            return False
        return True


def run_agent(name: str, plan: CompanyPlan, channel: socket.socket) -> None:
    """The body of the process. It keeps its own acts of the plan, and ends when the other end of
    the channel is closed."""
    hide_memory()
    acts = {place: act for place, act in enumerate(plan.acts) if act.author == name}
    key = draw_key()
    agent: Agent | None = None
    with channel, channel.makefile("rw", encoding="utf-8", newline="\n") as lines:
        _say(lines, {"key": key.hex()})
        for line in lines:
            message = json.loads(line)
            try:
                if "address" in message:
                    caller = Caller(Path(message["address"]), name, key)
                    agent, done = Agent(name, acts, caller), True
                elif agent is None:
                    raise BadInput("told to act before the control plane was there")
                elif "act" in message:
                    done = agent.act(message["act"])
                else:
                    done = agent.change(**message["change"])
                _say(lines, {"done": done})
            except ChaosOpsError as error:
                _say(lines, {"error": str(error)})


def _say(lines: TextIO, content: dict[str, Any]) -> None:
    lines.write(json.dumps(content) + "\n")
    lines.flush()
