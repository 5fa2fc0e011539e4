"""The documents of the wire: current, and true of the running server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from chaosops import load_policy
from chaosops.cli import main
from chaosops.client import read_rules, read_view
from chaosops.packs import simulated_packs
from chaosops.policies.protocol import DecisionRequest
from chaosops.server.app import build_app
from chaosops.server.wire_documents import documents
from chaosops.wire.decisions import sent_decision
from tests.server.conftest import Evaluating, Running
from tests.server.tables import open_table
from tests.server.talk import Line, line_to

FOLDER = Path(__file__).parents[2] / "docs/wire"
NAMES = ("schema.json", "openapi.json", "asyncapi.json")
CURE = "the documents are not current: chaosops wire docs/wire"


@cache
def committed(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def test_the_documents_are_current() -> None:
    made = json.loads(json.dumps(documents(build_app())))
    assert set(made) == set(NAMES) == {path.name for path in FOLDER.iterdir()}
    for name in NAMES:
        assert made[name] == committed(name), CURE


def test_the_command_writes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wire", str(tmp_path / "new")]) == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / "new" / name) for name in NAMES]
    for name in NAMES:
        assert (tmp_path / "new" / name).read_bytes() == (FOLDER / name).read_bytes(), CURE


@pytest.mark.parametrize("name", ["openapi.json", "asyncapi.json"])
def test_the_server_sends_its_own(served: Running, name: str) -> None:
    assert httpx.get(f"{served.url}/{name}").json() == committed(name)


@pytest.mark.parametrize("name", NAMES)
def test_every_reference_leads_somewhere(name: str) -> None:
    document = committed(name)
    for reference in references(document):
        place = document
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]
    schemas = document["$defs"] if name == "schema.json" else document["components"]["schemas"]
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)


def references(part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for item in part:
            yield from references(item)
    elif isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from references(value)


@cache
def validator(channel: str, action: str, kind: str) -> Draft202012Validator:
    """Of a message, found as a program would find it in the AsyncAPI document."""
    document = committed("asyncapi.json")
    operation = document["operations"][f"{action}_{channel}"]
    names = [each["$ref"].rpartition("/")[2] for each in operation["messages"]]
    (payload,) = (
        message["payload"]
        for name, message in document["components"]["messages"].items()
        if name in names and message["name"] == kind
    )
    return Draft202012Validator({**payload, "components": document["components"]})


class Checked(Line):
    """A line that checks every message in both directions."""

    channel = "ws"

    def say(self, message: str | bytes) -> dict[str, Any]:
        content = json.loads(message)
        validator(self.channel, "receive", content["type"]).validate(content)
        return super().say(message)

    def hear(self) -> dict[str, Any]:
        content = super().hear()
        validator(self.channel, "send", content["type"]).validate(content)
        return content


class CheckedSeat(Checked):
    channel = "seat"


def policy_action(view: dict[str, Any], rules: dict[str, Any]) -> dict[str, Any]:
    seen = read_view(view, read_rules(rules))
    (decision,) = load_policy("heuristic").decide([DecisionRequest(seen, 0)])
    return sent_decision(decision)


@pytest.mark.parametrize("options", [{}, {"role": "oversight"}], ids=["all", "one"])
@pytest.mark.parametrize("pack", simulated_packs())
def test_every_message_of_an_episode_is_described(
    served: Running, pack: str, options: dict[str, Any]
) -> None:
    with line_to(served.socket) as plain:
        line = Checked(plain.socket)
        seen = line.reset(pack=pack, tier="hard", seed=3, **options)
        rules = seen["rules"]
        line.state()
        while not seen["done"]:
            seen = line.step(**policy_action(seen["view"], rules))
        assert seen["debrief"]["pack"] == pack
        line.state()
        assert line.ask("step", action="noop")["type"] == "error"
        line.ask("mcp", jsonrpc="2.0", id=1, method="tools/list")
        kinds = {json.loads(text)["type"] for text in line.heard}
    assert kinds == {"observation", "state", "error", "mcp"}


@pytest.mark.parametrize("pack", simulated_packs())
def test_every_message_of_a_table_is_described(served: Running, pack: str) -> None:
    opened = open_table(served, pack=pack, tier="hard", seed=3)
    http_validator("OpenedTable").validate(opened)
    kinds = set()
    with ExitStack() as stack:
        lines, rules = {}, {}
        for role, token in opened["tokens"].items():
            plain = stack.enter_context(line_to(served.socket, "/seat"))
            lines[role] = CheckedSeat(plain.socket)
            rules[role] = lines[role].ask("sit", token=token)["data"]["rules"]
        assert lines["dev"].ask("act", action="noop")["data"]["code"] == "NOT_YOUR_TURN"
        over = False
        while not over:
            for role, line in lines.items():
                told = line.hear()
                if over := told["type"] == "over":
                    break
                assert line.ask("act", **policy_action(told["data"]["view"], rules[role]))
        kinds = {json.loads(text)["type"] for line in lines.values() for text in line.heard}
    state = httpx.get(f"{served.url}/tables/{opened['table']}").json()
    http_validator("TableState").validate(state)
    assert kinds == {"seated", "turn", "acted", "over", "error"}
    assert state["status"] == "over"


def test_an_abandoned_table_is_described(served: Running) -> None:
    opened = open_table(served, turn_timeout_s=0.2)
    with line_to(served.socket, "/seat") as plain:
        line = CheckedSeat(plain.socket)
        line.ask("sit", token=opened["tokens"]["sre"])
        assert line.hear()["type"] == "abandoned"


def test_messages_of_the_evaluation_mode_are_described(
    evaluating: Evaluating, capsys: pytest.CaptureFixture[str]
) -> None:
    token = evaluating.split.open(capsys, "described")
    with line_to(evaluating.served.socket) as plain:
        line = Checked(plain.socket)
        seen = line.reset(submission=token)
        assert seen["reward"] is None
        assert not line.step(action="noop")["done"]
        line.state()


def http_validator(name: str) -> Draft202012Validator:
    components = committed("openapi.json")["components"]
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": components})


# Each is well-formed JSON. Some of them fit a field.
VALUES: list[Any] = [
    None, True, 0, -1, 1.5, 2**63, "", "x", "noop", "sre", "y" * 9_000, [], ["x"], {}, {"x": 2},
]  # fmt: skip


def broken(message: dict[str, Any], check: Draft202012Validator) -> list[dict[str, Any]]:
    """The message with a part replaced, left out or added, wherever the schema forbids it."""
    data = message.get("data")
    made = [{**message, "x": 1}, {**message, "data": "x"}, {"type": message["type"]}]
    made += [{**message, "data": value} for value in VALUES]
    if isinstance(data, dict):
        names = {*data, *field_names(check)}
        made += [{**message, "data": {**data, n: value}} for n in names for value in VALUES]
        made += [{**message, "data": {k: v for k, v in data.items() if k != name}} for name in data]
        made.append({**message, "data": {**data, "unknown": 1}})
    return [each for each in made if not check.is_valid(each)]


def field_names(check: Draft202012Validator) -> set[str]:
    """All properties that the schema of ``data`` knows."""
    schemas = check.schema["components"]["schemas"]
    message = schemas[check.schema["$ref"].rpartition("/")[2]]
    data = message["properties"].get("data", {})
    shapes = [schemas[ref.rpartition("/")[2]] for ref in references(data)]
    return {name for shape in shapes for name in shape["properties"]}


MESSAGES: dict[str, list[dict[str, Any]]] = {
    "ws": [
        {"type": "reset", "data": {"seed": 3, "tier": "hard"}},
        {"type": "step", "data": {"action": "noop"}},
        {"type": "step", "data": {"reply": "noop"}},
        {"type": "state"},
    ],
    "seat": [{"type": "act", "data": {"action": "noop"}}],
}


@pytest.mark.parametrize("channel", MESSAGES)
def test_what_breaks_the_schema_is_refused(served: Running, channel: str) -> None:
    with line_to(served.socket, f"/{channel}") as line:
        if channel == "seat":
            token = open_table(served)["tokens"]["sre"]
            for wrong in broken({"type": "sit", "data": {"token": token}}, sit_validator()):
                assert line.say(json.dumps(wrong))["type"] == "error", wrong
            line.ask("sit", token=token)
        count = 0
        for message in MESSAGES[channel]:
            check = validator(channel, "receive", message["type"])
            check.validate(message)
            for wrong in broken(message, check):
                count += 1
                assert line.say(json.dumps(wrong))["type"] == "error", wrong
    assert count > 50


def sit_validator() -> Draft202012Validator:
    return validator("seat", "receive", "sit")


@pytest.mark.parametrize(
    ("path", "name", "body"),
    [
        ("/reset", "ResetRequest", {"seed": 3}),
        ("/step", "StepRequest", {"action": {"action": "noop"}}),
        ("/tables", "TableRequest", {"seed": 3}),
    ],
)
def test_what_breaks_the_schema_is_refused_over_http(
    path: str, name: str, body: dict[str, Any], free_server: Running
) -> None:
    check = http_validator(name)
    check.validate(body)
    fields = committed("openapi.json")["components"]["schemas"][name]["properties"]
    made = [{**body, field: value} for field in fields for value in VALUES]
    wrong = [each for each in [*made, {**body, "unknown": 1}] if not check.is_valid(each)]
    assert len(wrong) > 10
    with httpx.Client(base_url=free_server.url) as client:
        for each in wrong:
            answer = client.post(path, json=each)
            assert answer.status_code in (400, 422), (each, answer.text)
            http_validator("Problem").validate(answer.json())


@pytest.fixture(scope="module")
def free_server() -> Iterator[Running]:
    """With room for many requests a second."""
    from tests.server.conftest import running_server

    options = ("--max-requests", "100000", "--max-requests-per-client", "100000")
    with running_server(*options) as running:
        yield running


def test_answers_over_http_are_described(served: Running) -> None:
    for pack in simulated_packs():
        answer = httpx.post(f"{served.url}/reset", json={"pack": pack, "seed": 3})
        http_validator("Observed").validate(answer.json())
    http_validator("ChaosOpsState").validate(httpx.get(f"{served.url}/state").json())
