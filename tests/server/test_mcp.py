"""The actions as tools, over HTTP and over the session's own WebSocket."""

from __future__ import annotations

import json
from typing import Any

import httpx
import yaml

from chaosops.core.actions import VERBS
from tests.server.conftest import Running, StartServer
from tests.server.talk import Line, line_to
from tests.server.test_environment import ROOT


def rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


class Agent:
    """Somebody who knows a session's id and the address of its tools."""

    def __init__(self, url: str, session: str) -> None:
        self._url = url
        self._session = session
        self.heard: list[str] = []

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        message = rpc(method, session_id=self._session, **params)
        answer = httpx.post(f"{self._url}/mcp", json=message)
        assert answer.status_code == 200
        self.heard.append(answer.text)
        content: dict[str, Any] = answer.json()
        return content

    def call(self, tool: Any, arguments: Any = None) -> dict[str, Any]:
        given = {} if arguments is None else {"arguments": arguments}
        answer = self.ask("tools/call", name=tool, **given)
        result: dict[str, Any] = answer["result"]
        return result


def new_session(url: str) -> str:
    answer = httpx.post(f"{url}/mcp", json=rpc("openenv/session/create")).json()
    session: str = answer["result"]["session_id"]
    return session


def test_there_is_one_tool_for_each_verb_and_one_to_look(served: Running) -> None:
    answer = httpx.post(f"{served.url}/mcp", json=rpc("tools/list")).json()
    tools = {tool["name"]: tool for tool in answer["result"]["tools"]}
    assert tools.keys() == {"look", *VERBS}
    assert not {"reset", "state", "step", "close"} & tools.keys()
    assert tools["scale"]["inputSchema"]["required"] == ["target", "replicas"]
    assert tools["communicate"]["inputSchema"]["required"] == ["message"]
    declared = yaml.safe_load((ROOT / "openenv.yaml").read_text(encoding="utf-8"))
    names = declared["validation"]["capabilities"]["declared_tools"]
    assert names == list(tools), "run python scripts/declare_tools.py"


def test_an_agent_acts_in_a_session_that_somebody_else_holds(served: Running) -> None:
    session = new_session(served.url)
    agent = Agent(served.url, session)
    assert agent.call("look")["isError"]  # nobody has reset it
    with line_to(served.socket, f"/ws?session_id={session}") as owner:
        owner.reset(scenario="autoscaler_cost_cut", tier="hard", seed=42)
        seen = agent.call("look")
        assert not seen["isError"]
        assert seen["structuredContent"]["role"] == "sre"
        assert "It is the turn of sre, who may: noop" in seen["content"][0]["text"]
        agent.call("identify_root_cause", {"failure_type": "autoscaler_cost_cut"})
        seen = agent.call("flag_rogue", {"target": "autoscaler", "confidence": 0.9})
        assert seen["structuredContent"]["role"] == "dev"
        assert owner.state()["reward"] == 28.0 + 46.0
        # What an agent hears before the end tells it neither rewards nor the truth.
        heard = "".join(agent.heard)
        for word in ("reward", "rubric", "debrief", "rogue_flagged", "seed"):
            assert word not in heard
        told = agent.call("scale", {"target": "payments", "replicas": 4})["structuredContent"]
        assert told["done"]
        assert told["debrief"]["rogue"] == "autoscaler"
        assert owner.state()["status"] == "over"
        assert agent.call("noop")["isError"]
    assert httpx.post(
        f"{served.url}/mcp", json=rpc("openenv/session/close", session_id=session)
    ).json()["result"]["closed"]


def test_what_cannot_be_called_costs_no_turn(served: Running) -> None:
    session = new_session(served.url)
    agent = Agent(served.url, session)
    with line_to(served.socket, f"/ws?session_id={session}") as owner:
        owner.reset(seed=1)
        for tool, arguments, said in (
            ("reset", {}, "unknown tool 'reset'"),
            ("state", {}, "unknown tool 'state'"),
            ("restrat", {}, "did you mean 'restart'"),
            ([], {}, "unknown tool"),
            ("restart", {}, "restart needs target"),
            ("restart", {"target": 5}, "target must be a string"),
            ("noop", {"action": "resolve"}, "takes no argument 'action'"),
            ("look", {"at": "it"}, "takes no arguments"),
            ("noop", [1], "must be an object"),
        ):
            result = agent.call(tool, arguments) if tool else agent.ask("tools/call", name=tool)
            text = json.dumps(result)
            assert said in text or "Missing 'name'" in text
        assert owner.state()["step_count"] == 0
        assert agent.ask("reset")["error"]["code"] == -32601
        assert agent.ask("state")["error"]["code"] == -32601
        # The session has an owner on its WebSocket: nobody else gets in to reset it.
        with line_to(served.socket, f"/ws?session_id={session}") as intruder:
            assert "already has an attached WebSocket" in intruder.hear()["data"]["message"]


def test_a_session_that_a_socket_opened_is_that_socket_s_alone(start_server: StartServer) -> None:
    served = start_server("--max-sessions", "1")
    with line_to(served.socket) as owner:
        owner.reset(seed=1)
        told = owner.ask("mcp", **rpc("openenv/session/create"))
        session = told["data"]["result"]["session_id"]
        with line_to(served.socket, f"/ws?session_id={session}") as intruder:
            assert "already has an attached WebSocket" in intruder.hear()["data"]["message"]
        httpx.post(f"{served.url}/mcp", json=rpc("openenv/session/close", session_id=session))
        assert owner.state()["step_count"] == 0
        with line_to(served.socket) as another:  # it is still counted
            assert another.hear()["data"]["code"] == "CAPACITY_REACHED"
    agent = Agent(served.url, session)
    assert "error" in agent.ask("tools/call", name="look")  # gone with its socket


def test_tools_work_over_the_sessions_own_socket(served: Running) -> None:
    def call(line: Line, tool: str, **arguments: Any) -> dict[str, Any]:
        message = rpc("tools/call", name=tool, arguments=arguments)
        answer = line.ask("mcp", **message)
        assert answer["type"] == "mcp"
        result: dict[str, Any] = answer["data"]["result"]
        return result

    with line_to(served.socket) as line:
        line.reset(pack="arena", seed=4)
        service = call(line, "look")["structuredContent"]["view"]["metrics"][0]["service"]
        seen = call(line, "inspect", target=service)
        assert seen["structuredContent"]["view"]["inspections"][0]["service"] == service
        assert line.state()["step_count"] == 1


def test_the_tools_socket_answers_without_an_episode(served: Running) -> None:
    with line_to(served.socket, "/mcp") as line:
        assert len(line.say(json.dumps(rpc("tools/list")))["result"]["tools"]) == 18
        answer = line.say(json.dumps(rpc("tools/call", name="noop", arguments={})))
        assert "send reset first" in answer["result"]["content"][0]["text"]
