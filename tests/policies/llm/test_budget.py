"""A run stops before its budget is exceeded, and goes on without paying twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.policies.llm.account import Account, BudgetSpent
from chaosops.policies.llm.answers import Answer
from chaosops.policies.llm.http_chat import EndpointDown
from chaosops.policies.llm.kept_replies import KeptReplies
from tests.conftest import Outcome
from tests.policies.llm.asking import policy_at, requests_for
from tests.policies.llm.faulty_server import FaultyServer, say, status

Cli = Callable[..., Outcome]
PRICE = "+price=1000/10000"  # 100 tokens read and 10 written: 0.2 dollars a reply


def asked(account: Account, server: FaultyServer, options: str = PRICE) -> None:
    with account.in_use():
        policy = policy_at(server, options)
    policy.decide(requests_for(40))


@pytest.mark.parametrize(
    ("account", "replies", "words"),
    [
        (Account(max_dollars=2.0), 10, "the budget of --max-dollars 2 is spent"),
        (Account(max_dollars=2.1), 10, "2.0000 US dollars"),
        (Account(max_tokens=1000), 9, "the budget of --max-tokens 1000 is spent (990 tokens"),
    ],
)
def test_it_stops_before_the_budget_is_exceeded(
    server: FaultyServer, account: Account, replies: int, words: str
) -> None:
    with pytest.raises(BudgetSpent) as caught:
        asked(account, server)
    assert len(server.seen) == replies
    assert words in str(caught.value)
    assert "--resume" in str(caught.value)


def test_a_budget_needs_a_price_and_reported_tokens(server: FaultyServer) -> None:
    with pytest.raises(BadInput, match=r"add \+price=READ/WRITTEN"):
        asked(Account(max_dollars=1), server, "")
    server.always = say('{"action":"noop"}', usage=None)
    with pytest.raises(BadInput, match="does not report the tokens"):
        asked(Account(max_tokens=1000), server)
    asked(Account(), server)  # without a limit nothing is needed


def test_a_budget_is_over_with_its_run(server: FaultyServer) -> None:
    with pytest.raises(BudgetSpent):
        asked(Account(max_tokens=1), server)
    policy_at(server).decide(requests_for(4))


def evaluation(server: FaultyServer, out: Path, *more: str) -> list[str]:
    team = f"oversight=openai:fake@{server.url}{PRICE},others=heuristic"
    words = ["eval", "--team", team, "--pack", "arena", "--split", "test", "--tiers", "easy"]
    return [*words, "--seeds", "3", "--no-figures", "--out", str(out), *more]


def test_an_evaluation_goes_on_where_its_budget_ended(
    server: FaultyServer, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts, here = tmp_path / "whole", tmp_path / "parts", Path("out")
    monkeypatch.chdir(tmp_path)  # both commands are the same
    assert cli(*evaluation(server, here)).code == 0
    here.rename(whole)
    replies = len(server.seen)
    assert not (whole / "replies.jsonl").exists()

    server.seen.clear()
    stopped = cli(*evaluation(server, here, "--max-dollars", "0.5"))
    runs = 1
    while stopped.code:
        assert stopped.code == 2
        assert stopped.err.splitlines()[-1].startswith("chaosops: the budget of --max-dollars 0.5")
        assert (here / "replies.jsonl").stat().st_size > 0
        assert len(server.seen) == 2 * runs  # 0.4 dollars a run, and no reply is paid twice
        stopped = cli(*evaluation(server, here, "--resume", "--max-dollars=0.5"))
        runs += 1
    assert runs > 2
    assert len(server.seen) == replies
    here.rename(parts)
    names = sorted(path.name for path in whole.iterdir() if path.is_file())
    assert "results.json" in names
    assert names == sorted(path.name for path in parts.iterdir() if path.is_file())
    for name in names:
        assert (parts / name).read_bytes() == (whole / name).read_bytes(), name
    verified = cli("verify", str(parts))
    assert verified.code == 0, verified.out + verified.err


def test_a_new_evaluation_uses_no_old_replies(
    server: FaultyServer, cli: Cli, tmp_path: Path
) -> None:
    assert cli(*evaluation(server, tmp_path, "--max-tokens", "300")).code == 2
    server.seen.clear()
    assert cli(*evaluation(server, tmp_path, "--force", "--max-tokens", "300")).code == 2
    assert len(server.seen) == 2


def test_a_budget_without_an_endpoint_is_a_mistake(cli: Cli, tmp_path: Path) -> None:
    words = ("eval", "--policies", "heuristic", "--out", str(tmp_path / "out"), "--no-figures")
    assert "none takes part" in cli(*words, "--max-tokens", "100").refusal
    assert "US dollars, more than 0" in cli(*words, "--max-dollars", "0").err


def test_damaged_replies_are_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    good = Answer("yes", "stop", 5, None, "m", {"content": []}, 3)
    KeptReplies(path).add("u", {"n": 1}, good)
    whole = path.read_bytes()
    bad = json.loads(whole) | {"question": "x"}
    bad["answer"]["text"] = 7
    path.write_bytes(whole + b"{}\n[1]\n" + json.dumps(bad).encode() + b"\n" + whole[:40])
    kept = KeptReplies(path, resume=True)
    assert kept.get("u", {"n": 1}) == good._replace(logprobs={"content": [{}]})
    assert kept.get("u", {"n": 2}) is None
    assert kept.get("v", {"n": 1}) is None
    assert KeptReplies(path).get("u", {"n": 1}) is None
    assert KeptReplies(None).get("u", {}) is None


def test_an_outage_is_seen_although_replies_were_kept(server: FaultyServer, tmp_path: Path) -> None:
    """The harmless question, which tells an outage from a bad prompt, is never answered from the
    file."""
    path = tmp_path / "replies.jsonl"
    server.script = [status(413, "too long")]
    with Account(replies=path).in_use():
        policy = policy_at(server)
    policy.decide(requests_for(1))
    with Account(replies=path, resume=True).in_use():
        policy = policy_at(server, "+patience=0.2")
    server.always = status(500, "down")
    with pytest.raises(EndpointDown):
        policy.decide(requests_for(1))
