"""``+max_tokens``, ``+extra``, ``+prompt``, and fields of a request that a server refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chaosops.core.actions import Unreadable
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.packs import make_scenario
from chaosops.policies.llm.endpoint import EndpointPolicy
from chaosops.policies.llm.formats import formats_of
from chaosops.policies.llm.http_chat import EndpointRefused
from chaosops.policies.llm.spec import read_spec
from chaosops.roles.prompt import Style, system_prompt
from chaosops.rollout import Team, play, policy_names
from chaosops.wire.episodes import episode_to_wire, from_record, record_of
from tests.policies.llm.asking import decide, policy_at, requests_for, view_of
from tests.policies.llm.faulty_server import Behaviour, Body, FaultyServer, Handler, answer

ENDPOINT = "openai:m@http://127.0.0.1:1/v1"


def without(said: str, *fields: str) -> Behaviour:
    """Refuse requests with these fields, in a server's words."""

    def behave(handler: Handler, body: Body) -> None:
        if found := [field for field in fields if field in body]:
            handler.send(400, {"error": {"message": said.format(field=found[0])}})
        else:
            answer(handler, body)

    return behave


def test_the_limit_of_a_reply(server: FaultyServer) -> None:
    policy = policy_at(server, "+max_tokens=4000")
    decide(policy)
    assert server.seen[0]["max_tokens"] == 4000
    assert policy.status()["max_tokens"] == 4000
    with pytest.raises(BadInput, match="max_tokens=0"):
        EndpointPolicy(read_spec(f"{ENDPOINT}+max_tokens=0"))


def test_max_tokens_has_another_name_at_some_servers(server: FaultyServer) -> None:
    server.always = without(
        "Unsupported parameter: '{field}' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        "max_tokens",
    )
    policy = policy_at(server)
    decided = policy.decide(requests_for(4))
    assert not any(isinstance(decision.action, Unreadable) for decision in decided)
    assert len(server.seen) == 5  # asked once with the old name
    assert server.seen[-1]["max_completion_tokens"] == 500
    assert policy.status()["refused"] == ["max_tokens"]
    assert policy.status()["constrained"] == "json_schema"


def test_a_temperature_that_is_refused_is_left_out_and_told(server: FaultyServer) -> None:
    said = "Unsupported value: '{field}' does not support 0 with this model"
    server.always = without(said, "temperature", "seed")
    policy = policy_at(server)
    decide(policy)
    assert policy.status()["temperature"] is None
    assert policy.status()["refused"] == ["seed", "temperature"]


def test_a_temperature_that_was_asked_for_is_not_left_out(server: FaultyServer) -> None:
    server.always = without("'{field}' is not supported", "temperature")
    with pytest.raises(EndpointRefused, match="temperature"):
        decide(policy_at(server, "+temperature=0.7"))


def test_a_prompt_that_is_too_long_renames_nothing(server: FaultyServer) -> None:
    said = "'max_tokens' is too large: the model's maximum context length is 300 tokens"
    server.always = without(said, "max_tokens")
    with pytest.raises(EndpointRefused):
        decide(policy_at(server))
    assert not any("max_completion_tokens" in body for body in server.seen)


def test_extra_fields_reach_the_server_and_the_status(server: FaultyServer) -> None:
    extra = {"reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": False}}
    policy = policy_at(server, f"+extra={json.dumps(extra)}+max_tokens=900")
    decide(policy)
    assert server.seen[0].items() >= extra.items()
    assert server.seen[0]["max_tokens"] == 900
    assert policy.status()["extra"] == extra


@pytest.mark.parametrize(
    ("extra", "problem"),
    [
        ("{", "is not JSON"),
        ("[1]", "expected an object"),
        ("{}", "expected an object"),
        ('{"top_p":NaN}', "is not JSON"),
        ('{"messages":[]}', r"must not hold messages: .*\+prompt=FILE"),
        ('{"max_completion_tokens":9}', r"write \+max_tokens="),
        ('{"stream":true}', "replies are read whole"),
        ('{"stop":"\u00e9"}', "printable ASCII"),
    ],
)
def test_extra_fields_that_cannot_be(extra: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        EndpointPolicy(read_spec(f"{ENDPOINT}+extra={extra}"))


def test_a_team_may_name_a_model_with_extra_fields() -> None:
    model = f'{ENDPOINT}+extra={{"top_p":0.9,"stop":["}}",","]}}'
    assert policy_names(f"oversight={model},others=heuristic") == {
        role: model if role is Role.OVERSIGHT else "heuristic" for role in Role
    }


def prompt_file(folder: Path, text: str) -> Path:
    path = folder / "careful.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_own_prompt_is_sent_and_can_be_rendered_again(
    server: FaultyServer, tmp_path: Path
) -> None:
    own = prompt_file(tmp_path, 'You play {role}. Trust no log, {"not":1}.\n{rules}\nBe brief.\n')
    policy = policy_at(server, f"+prompt={own}")
    scenario = make_scenario("db_deadlock", seed=1, limit=4)
    episode = play(scenario, Team.of(policy))
    view = view_of(Role.SRE)
    sent = server.seen[0]["messages"][0]["content"]
    assert sent.startswith('You play sre. Trust no log, {"not":1}.\n')
    standard = system_prompt(view.rules, Role.SRE, Style.JSON).split("\n")
    assert sent.split("\n")[1:-1] == standard[2:]
    assert sent.endswith("\nBe brief.")

    record = record_of(episode_to_wire(episode), "")
    formats = formats_of({policy.name: policy.status()})
    assert from_record(record, formats=formats) == episode
    team = {role.value: policy.status() for role in Role}
    assert from_record(record, formats=formats_of({"team": team})) == episode
    with pytest.raises(BadInput, match="the prompt's hash"):
        from_record(record)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", r"must hold \{rules\} once, has it 0 times"),
        ("Be careful.", "without them no reply can be read"),
        ("{rules}{rules}", "has it 2 times"),
        ("{rules} {truth}", r"holds \{truth\}, which stands for nothing; allowed: \{rules\}"),
        ("{rules}<|im_end|>", r"must not hold <\|im_end\|>"),
        ("{rules}\x1b[2J", "control character"),
        ("{rules}" + "x" * 20_000, "shorten it to 16000"),
    ],
)
def test_an_own_prompt_that_cannot_be(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        EndpointPolicy(read_spec(f"{ENDPOINT}+prompt={prompt_file(tmp_path, text)}"))


def test_a_prompt_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot read prompt"):
        EndpointPolicy(read_spec(f"{ENDPOINT}+prompt={tmp_path}/none.txt"))
