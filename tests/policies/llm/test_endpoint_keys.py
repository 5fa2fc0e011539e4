"""Keys of endpoints are sent and never shown."""

from __future__ import annotations

import pytest

from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.policies.llm.endpoint import EndpointPolicy
from chaosops.policies.llm.spec import read_spec
from tests.policies.llm.asking import decide, policy_at
from tests.policies.llm.faulty_server import (
    FaultyServer,
    echo_key,
    say,
)
from tests.policies.llm.test_endpoint import KEY


@pytest.mark.parametrize("variable", ["CHAOSOPS_API_KEY", "OPENAI_API_KEY"])
@pytest.mark.parametrize("code", [400, 401, 404, 500])
def test_the_key_is_sent_and_never_shown(
    server: FaultyServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variable: str,
    code: int,
) -> None:
    monkeypatch.setenv(variable, KEY + "\n")
    server.always = echo_key(code)
    policy = policy_at(server, "+patience=1.2")
    with pytest.raises(ChaosOpsError) as caught:
        decide(policy)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert f"your header was Bearer ({variable})" in str(caught.value)
    shown = [repr(caught.value), repr(policy), repr(vars(policy)), str(policy.status())]
    assert not [text for text in shown if KEY in text]
    assert KEY not in capsys.readouterr().err


def test_a_reply_that_echoes_the_key_is_recorded_without(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAOSOPS_API_KEY", KEY)
    server.always = say(f"your key is {KEY}", model=KEY)
    policy = policy_at(server)
    assert KEY not in repr(decide(policy)) + str(policy.status())


def test_our_own_variable_comes_first(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("CHAOSOPS_API_KEY", KEY)
    decide(policy_at(server))
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_a_key_that_no_header_can_hold(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAOSOPS_API_KEY", f"{KEY}\n{KEY}")
    with pytest.raises(BadInput, match="CHAOSOPS_API_KEY holds characters") as caught:
        decide(policy_at(server))
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("options", ["", "+timeout=never", "+adapter=x", "+price=x"])
def test_a_url_with_a_password_is_refused_without_showing_it(options: str) -> None:
    for url in ("http://me:hunter2@127.0.0.1/v1", "http://127.0.0.1/v1?api-key=hunter2"):
        with pytest.raises(BadInput, match="must not hold a user, password or query") as caught:
            EndpointPolicy(read_spec(f"openai:m@{url}{options}"))
        assert "hunter2" not in str(caught.value)
