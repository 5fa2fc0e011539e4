"""The actions as MCP tools, one for each verb, and ``look`` to see without acting.

An agent can neither start an episode nor read its state: only the owner of the session can. It
gets no rewards, because they would reveal whether it was right.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from mcp.types import CallToolResult, TextContent, Tool

from chaosops.core.actions import VERBS, Action
from chaosops.core.errors import BadInput, ChaosOpsError, UnknownName
from chaosops.roles.prompt import user_prompt
from chaosops.roles.schema import tool_schema
from chaosops.server.episode import ServedEpisode
from chaosops.server.errors import mistakes_logged
from chaosops.wire.decisions import read_action
from chaosops.wire.views import view_to_wire

LOOK = "look"


@lru_cache(maxsize=1)
def all_tools() -> tuple[Tool, ...]:
    look = Tool(
        name=LOOK,
        description="See whose turn it is and what that role sees. Takes no turn.",
        inputSchema=tool_schema(Action),
    )
    return look, *(
        Tool(name=verb, description=kind.__doc__, inputSchema=tool_schema(kind))
        for verb, kind in VERBS.items()
    )


class ToolBox:
    """The tools of one session, with the interface of the client that OpenEnv's /mcp uses.

    A call that cannot be carried out gives a result with ``isError`` and takes no turn.
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
            with mistakes_logged():
                return self._call(name, arguments)
        except ChaosOpsError as error:
            text = TextContent(type="text", text=str(error))
            return CallToolResult(content=[text], isError=True)

    def _call(self, name: Any, arguments: Any) -> CallToolResult:
        if not isinstance(name, str) or name not in (LOOK, *VERBS):
            raise UnknownName("tool", str(name), (LOOK, *VERBS))
        if not isinstance(arguments, dict):
            raise BadInput(f"the arguments of {name} must be an object")
        episode = self._find_episode()
        if name != LOOK:
            if "action" in arguments:
                raise BadInput(f"{name} takes no argument 'action'; leave it out")
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
