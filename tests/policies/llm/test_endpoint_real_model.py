"""The endpoint policy with a real server and a real model, both on this machine.

llama.cpp's own HTTP server runs in a process of its own: it logs to the terminal, and it
cannot be stopped from inside Python.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from chaosops.core.actions import FlagRogue, Unreadable
from chaosops.core.episode import Episode
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.llm.endpoint import EndpointPolicy
from chaosops.policies.llm.spec import read_spec
from chaosops.policies.llm.weights import embedded_gguf
from chaosops.roles.schema import action_schema
from chaosops.rollout import Team, play

# One thread: two would wait for each other wherever the tests share their cores.
SERVE = """
import sys
import xllamacpp as xc

params = xc.CommonParams()
params.model.path = sys.argv[1]
params.model_alias = {"smollm2"}
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx, params.n_parallel = 4096, 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.flash_attn_type = xc.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
server = xc.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-c", SERVE, str(embedded_gguf())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), "the server did not start"
            yield address
        finally:
            process.kill()


def played(url: str, options: str, scenario: Scenario) -> tuple[EndpointPolicy, Episode]:
    policy = EndpointPolicy(read_spec(f"openai:smollm2@{url}/v1{options}"))
    return policy, play(scenario, Team.of(policy))


def test_an_episode_in_json(url: str) -> None:
    scenario = make_scenario(pack="arena", tier="easy", seed=1, limit=len(Role))
    policy, episode = played(url, "+price=0.15/0.60", scenario)
    assert {turn.role for turn in episode.turns} == set(Role)
    rules = Env(episode.scenario).world.public.rules
    schemas = {role: list(action_schema(rules, role)["required"]) for role in Role}
    schemas[Role.OVERSIGHT].insert(-1, "suspicion")  # before the message
    read = written = 0
    for turn in episode.turns:
        exchange = turn.decision.exchange
        assert exchange is not None
        # Every field in its place: the server kept the schema, whatever the model had in mind.
        assert list(json.loads(exchange.reply)) == schemas[turn.role]
        read, written = read + exchange.tokens_read, written + exchange.tokens_written
        if turn.role is Role.OVERSIGHT:
            # The server's grammar knows no limits of numbers, and a small model writes any.
            flags = isinstance(turn.decision.action, FlagRogue)
            told = set(json.loads(exchange.reply)["suspicion"])
            assert told == set(rules.agents)
            assert (turn.decision.suspicion is None) <= (exchange.suspicion_lost and not flags)
        else:
            assert turn.decision.suspicion is None
    assert policy.status()["constrained"] == "json_schema"
    assert policy.status()["usage"] == "reported"
    assert policy.status()["revision"].startswith("smollm2")
    assert min(read, written) > 0


def test_an_episode_by_menu(url: str) -> None:
    """Nothing holds the model to a label, and a small one seldom writes one: what counts here
    is that its second try saw the first, and that the server's logprobs were understood."""
    scenario = make_scenario(split="train", tier="easy", seed=1, limit=2)
    policy, episode = played(url, "+format=menu", scenario)
    assert [turn.role for turn in episode.turns] == [Role.SRE, Role.OVERSIGHT]
    for turn in episode.turns:
        exchange = turn.decision.exchange
        assert exchange is not None
        assert len(exchange.prompt) == 2 * exchange.attempts
        assert exchange.tokens_written <= 8 * exchange.attempts
        if isinstance(turn.decision.action, Unreadable):
            assert exchange.attempts == 2
    assert policy.status()["suspicion"] == "logprobs"
    assert policy.status()["constrained"] == "no (plain text)"
