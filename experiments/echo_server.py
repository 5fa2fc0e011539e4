"""OpenEnv's echo environments under ChaosOps' server settings: the yardsticks of load_test.py.

python experiments/echo_server.py PORT plain   what ``openenv init`` writes, from its package
python experiments/echo_server.py PORT tools   an echo behind an MCP tool, like echo_env
"""

from __future__ import annotations

import sys
from importlib.resources import files
from types import ModuleType
from typing import Any

import uvicorn
from fastapi import FastAPI

from chaosops.client.openenv_core import ConcurrencyConfig, HTTPEnvServer

_TEMPLATE = files("openenv") / "cli" / "templates" / "openenv_env"
_NAMES = {"__ENV_CLASS_NAME__": "Echo", "__ENV_NAME__": "echo", "__ENV_TITLE_NAME__": "Echo"}


def tool_echo() -> tuple[Any, Any, Any]:
    from fastmcp import FastMCP
    from openenv.core.env_server.mcp_environment import MCPEnvironment
    from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
    from openenv.core.env_server.types import Observation, State

    class ToolEcho(MCPEnvironment):  # type: ignore[misc]
        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            tools = FastMCP("echo")

            @tools.tool
            def echo_message(message: str) -> str:
                return message

            super().__init__(tools)

        def reset(self, **_: Any) -> Observation:
            return Observation(done=False, reward=0.0)

        def _step_impl(self, action: Any, timeout_s: float | None = None, **_: Any) -> Observation:
            raise ValueError("call the tool echo_message")

        @property
        def state(self) -> State:
            return State()

    return ToolEcho, CallToolAction, CallToolObservation


def plain_echo() -> tuple[Any, Any, Any]:
    models = _load("models.py", "models")
    echo = _load("server/__ENV_NAME___environment.py", "echo_environment")
    return echo.EchoEnvironment, models.EchoAction, models.EchoObservation


def _load(path: str, name: str) -> Any:
    """A file of the template that ``openenv init`` copies, with its blanks filled in."""
    text = _TEMPLATE.joinpath(path).read_text(encoding="utf-8")
    for blank, word in _NAMES.items():
        text = text.replace(blank, word)
    module = sys.modules[name] = ModuleType(name)
    exec(compile(text, path, "exec"), module.__dict__)
    return module


def main(port: int, kind: str) -> None:
    parts = plain_echo() if kind == "plain" else tool_echo()
    config = ConcurrencyConfig(max_concurrent_envs=256)
    app = FastAPI()
    HTTPEnvServer(*parts, concurrency_config=config).register_routes(app)
    uvicorn.run(app, port=port, log_level="warning", access_log=False, ws_per_message_deflate=False)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
