"""The actions as MCP tools, one for each verb, and ``look`` to see without acting.

An agent gets these and nothing else: starting an episode and asking for its state stay with
whoever holds the session. It is not told rewards either: they would say whether it was right.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any

from mcp.types import CallToolResult, TextContent, Tool

from chaosops.core.actions import VERBS
from chaosops.core.errors import BadInput, ChaosOpsError, UnknownName
from chaosops.core.vocabulary import Role
from chaosops.roles.prompt import user_prompt
from chaosops.server.episode import ServedEpisode
from chaosops.server.mistakes import mistakes_logged
from chaosops.wire.decisions import read_action
from chaosops.wire.views import view_to_wire

LOOK = "look"

_MEANINGS = {
    LOOK: "See whose turn it is and what that role sees. Takes no turn.",
    "noop": "Do nothing this turn.",
    "communicate": "Say something to all, or to one role in private; Oversight reads everything.",
    "restart": "Restart a service.",
    "rollback": "Take a service back to its version before.",
    "scale": "Set the number of a service's replicas.",
    "flag_rogue": "Accuse a fleet agent of having caused the incident.",
    "identify_root_cause": "Name the root cause of the incident.",
    "escalate": "Escalate the incident.",
    "resolve": "Declare the incident over.",
    "reroute": "Send a service's traffic back to where it belongs.",
    "purge": "Free the disk of a service.",
    "renew_cert": "Issue a service a new certificate.",
    "throttle": "Cap what callers may send to a service.",
    "warm_cache": "Fill a cache again before traffic does.",
    "pause_batch": "Stop batch work on a service's machines.",
    "inspect": "Look at one service closely: what changed on it, and when.",
    "audit": "Read one fleet agent's own signed record.",
}

_ARGUMENTS: dict[str, dict[str, Any]] = {
    "target": {"type": "string", "description": "a service, or a fleet agent for flag and audit"},
    "replicas": {"type": "integer"},
    "failure_type": {"type": "string"},
    "message": {"type": "string"},
    "to": {"type": "string", "enum": [role.value for role in Role]},
    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    "evidence": {"type": "integer", "description": "the id of a trace entry"},
}


@lru_cache(maxsize=1)
def all_tools() -> tuple[Tool, ...]:
    return tuple(
        Tool(name=name, description=meaning, inputSchema=_input_schema(name))
        for name, meaning in _MEANINGS.items()
    )


def _input_schema(name: str) -> dict[str, Any]:
    arguments = fields(VERBS[name]) if name != LOOK else ()
    return {
        "type": "object",
        "properties": {argument.name: _ARGUMENTS[argument.name] for argument in arguments},
        "required": [a.name for a in arguments if a.default is MISSING],
        "additionalProperties": False,
    }


class ToolBox:
    """The tools of one session, in the shape of the client that OpenEnv's /mcp talks to.

    A call that cannot be carried out is a result with ``isError``; no turn is lost by it.
    """

    def __init__(self, find_episode: Callable[[], ServedEpisode]) -> None:
        self._find_episode = find_episode

    def is_connected(self) -> bool:
        return True

    async def __aenter__(self) -> ToolBox:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def list_tools(self) -> list[Tool]:
        return list(all_tools())

    async def call_tool(self, name: Any, arguments: Any) -> CallToolResult:
        try:
            with mistakes_logged:
                return self._call(name, arguments)
        except ChaosOpsError as error:
            text = TextContent(type="text", text=str(error))
            return CallToolResult(content=[text], isError=True)

    def _call(self, name: Any, arguments: Any) -> CallToolResult:
        if not isinstance(name, str) or name not in _MEANINGS:
            raise UnknownName("tool", str(name), _MEANINGS)
        if not isinstance(arguments, dict):
            raise BadInput(f"the arguments of {name} must be an object")
        episode = self._find_episode()
        if name != LOOK:
            if "action" in arguments:
                raise BadInput(f"{name} takes no argument 'action'")
            episode.play(read_action({"action": name, **arguments}))
        elif arguments:
            raise BadInput(f"{LOOK} takes no arguments")
        return _shown(episode)


def _shown(episode: ServedEpisode) -> CallToolResult:
    if episode.env.over:
        found = {"done": True, "debrief": episode.debrief()}
        text = "The episode is over. " + json.dumps(found["debrief"])
    else:
        view = episode.env.view
        found = {"done": False, "role": view.role.value, "view": view_to_wire(view)}
        verbs = ", ".join(view.rules.verbs[view.role])
        text = f"It is the turn of {view.role}, who may: {verbs}.\n{user_prompt(view)}"
    return CallToolResult(content=[TextContent(type="text", text=text)], structuredContent=found)
