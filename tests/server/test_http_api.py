"""The HTTP interface, as its own description promises it."""

from __future__ import annotations

import os
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from chaosops.access.limits import Limits
from chaosops.access.options import Access
from chaosops.server.app import Settings, build_app
from tests.server.conftest import Running

EXAMPLES = 300 if os.environ.get("CHAOSOPS_TEST_SIZE") == "full" else 25
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]

OPEN = Settings(
    web=False,
    limits=Limits(requests=10_000, requests_per_client=10_000),
    access=Access(public_host=("testserver",)),
)
schema = schemathesis.openapi.from_asgi("/openapi.json", build_app(OPEN))


@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_route_keeps_its_promise(case: schemathesis.Case[Any]) -> None:
    case.call_and_validate(checks=CHECKS)


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/step", b'{"action": {"action": "noop"}}', 409, "send reset first"),
        ("/step", b'{"action": {"action": "dance"}}', 422, "action: Input should be 'noop'"),
        ("/step", b'{"action": {}}', 422, "either 'action'"),
        ("/step", b'{"action": 5}', 422, "body.action: Input should be a valid dictionary"),
        ("/step", b"", 422, "Field required"),
        ("/reset", b'{"seed": NaN}', 400, "NaN is not a JSON number"),
        ("/reset", b'{"seed": -1}', 422, "body.seed"),
        ("/reset", b'{"tier": "brutal"}', 422, "unknown tier 'brutal'"),
        ("/reset", b'{"tire": 1}', 422, "did you mean 'tier'"),
        ("/reset", b'{"episode_id": "\\ud800"}', 400, "lone surrogate"),
        ("/reset", b'{"a":' * 50 + b"1" + b"}" * 50, 400, "more than 32 deep"),
        ("/reset", b'{"seed": ' + b"9" * 5_000 + b"}", 400, "is too large"),
        ("/reset", b"[" * 70_000, 413, "65536 bytes"),
        ("/reset", b"\xff\xfe", 400, "not UTF-8"),
        ("/reset", b"no json", 422, "JSON decode error"),
        ("/mcp", b'{"params": {"session_id": []}}', 400, "session_id must be text"),
        ("/chaosops/task", b'{"split": "tset", "index": 1}', 422, "did you mean 'test'"),
        ("/chaosops/task", b'{"split": "test", "index": -1}', 422, "tasks 0 to"),
        ("/nowhere/task", b'{"split": "test", "index": 1}', 404, "unknown environment"),
    ],
    ids=lambda value: value[:30].decode("latin-1") if isinstance(value, bytes) else None,
)
def test_a_bad_request_is_told_what_is_wrong(
    served: Running, path: str, body: bytes, status: int, said: str
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = httpx.post(f"{served.url}{path}", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert said in answer.json()["detail"]


def test_a_request_of_its_own_starts_and_ends_with_an_episode(served: Running) -> None:
    answer = httpx.post(f"{served.url}/reset", json={"pack": "arena", "seed": 3}).json()
    assert answer["observation"]["view"]["role"] == "sre"
    assert httpx.get(f"{served.url}/state").json()["status"] == "no_episode"
    splits = httpx.get(f"{served.url}/chaosops/splits").json()
    assert [split["name"] for split in splits[:3]] == ["classic", "train", "test"]
