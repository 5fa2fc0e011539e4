"""The connections that an endpoint policy keeps, on one loop for all calls."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from chaosops.core.decision import Decision
from tests.policies.llm.asking import decide, policy_at, requests_for
from tests.policies.llm.faulty_server import FaultyServer, completion, faulty_server, legal_reply


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with faulty_server() as running:
        yield running


def test_connections_are_kept_between_calls(server: FaultyServer) -> None:
    policy = policy_at(server, "+concurrency=3")
    for _ in range(4):
        policy.decide(requests_for(6))
    assert len(server.seen) == 24
    assert len(server.connections) == 3


def test_a_connection_that_was_closed_meanwhile_is_no_fault(server: FaultyServer) -> None:
    policy = policy_at(server)
    decide(policy)
    server.down_for(0.0).join()
    decide(policy)
    assert len(server.seen) == 2


def test_it_works_where_a_loop_runs_already(server: FaultyServer) -> None:
    async def notebook() -> Decision:
        return decide(policy_at(server))

    assert asyncio.run(notebook()) == decide(policy_at(server))


def _loops() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if "_serve" in thread.name}


def test_threads_and_policies_share_one_loop(server: FaultyServer) -> None:
    policy = policy_at(server, "+concurrency=3")
    with ThreadPoolExecutor(6) as threads:
        decided = list(threads.map(lambda _: decide(policy), range(12)))
        assert decide(policy_at(server, "+concurrency=2")) == decided[0]
        assert len(_loops()) == 1
    assert decided == [decided[0]] * 12
    assert len(server.connections) <= 3


def test_no_cookie_is_sent_back(server: FaultyServer) -> None:
    server.always = lambda handler, body: handler.send(
        200, completion(legal_reply(body)), Set_Cookie="session=4711; Path=/"
    )
    policy = policy_at(server)
    for _ in range(2):
        decide(policy)
    assert len(server.headers) == 2
    assert not any("cookie" in map(str.lower, headers) for headers in server.headers)


FORKED = """
import os, sys
from tests.policies.llm.asking import decide
from chaosops.policies.llm.endpoint import EndpointPolicy
from chaosops.policies.llm.spec import read_spec

policy = EndpointPolicy(read_spec(sys.argv[1]))
decided = decide(policy)
child = os.fork()
if child == 0:
    sys.exit(0 if decide(policy) == decided else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_asks_too(server: FaultyServer) -> None:
    spec = f"openai:fake@{server.url}+timeout=10+patience=20"
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED, spec], timeout=120, check=True)
    assert len(server.seen) == 2
