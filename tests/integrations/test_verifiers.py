"""The package for verifiers, in the environment that ``make verifiers`` makes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from chaosops import Seat, make_scenario
from chaosops.cli import main
from chaosops.evaluation.stored import read_results
from tests.policies.llm.faulty_server import (
    Body,
    FaultyServer,
    Handler,
    completion,
    faulty_server,
    legal_reply,
    status,
)

ROOT = Path(__file__).parents[2]
BIN = ROOT / "integrations/verifiers/.venv/bin"
ROLES = {"sre", "oversight", "dev", "manager"}
EPISODES = {"pack": "arena", "split": "test", "tiers": "hard", "seeds": "3", "seed_start": "5"}

pytestmark = pytest.mark.skipif(
    not (BIN.parent / ".ready").exists(),
    reason="no environment with verifiers; make one with: make verifiers",
)


def reply_to(body: Body) -> str:
    """A function of the view alone, so a model that is asked again says the same."""
    view = [{"role": m["role"], "content": m["content"]} for m in body["messages"][:2]]
    if int(hashlib.sha256(json.dumps(view).encode()).hexdigest(), 16) % 5 == 0:
        return "I would wait and see."
    with suppress(KeyError):  # the form needs a service, and this prompt lists none
        return legal_reply({**body, "messages": view})
    failing = re.search(r"deepest first: ([\w-]+)", view[1]["content"])
    return json.dumps({"action": "restart", "target": failing[1] if failing else "db"})


def answer(handler: Handler, body: Body) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    more = {"id": "1", "object": "chat.completion", "created": 0, "usage": usage}
    handler.send(200, completion(reply_to(body), **more))


@pytest.fixture
def endpoint() -> Iterator[FaultyServer]:
    with faulty_server() as server:
        server.always = answer
        yield server


def vf_eval(endpoint: FaultyServer, out: Path, *options: str) -> list[dict[str, Any]]:
    """The episodes that ``vf-eval`` wrote, by their seeds."""
    chosen = {**EPISODES, "tiers": json.dumps(EPISODES["tiers"].split())}
    words = [word for name, value in chosen.items() for word in (_option(name), value)]
    ran = in_environment(
        out,
        *("vf-eval", "chaosops-verifiers", *words, "-m", "fake", "--client.base-url", endpoint.url),
        *("--client.api-key-var", "NO_KEY", "--no-push", "--no-rich", "-o", str(out), *options),
    )
    assert ran.returncode == 0, ran.stderr[-2_000:]
    (traces,) = out.glob("*/traces.jsonl")
    episodes = [json.loads(line) for line in traces.read_text(encoding="utf-8").splitlines()]
    return sorted(episodes, key=lambda episode: int(episode["task"]["data"]["seed"]))


def _option(name: str) -> str:
    return f"--env.taskset.{name.replace('_', '-')}"


def in_environment(home: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    home.mkdir(exist_ok=True)
    # No setting of this machine, and no key of its owner.
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    return subprocess.run(
        [str(BIN / program), *words],
        env=environment,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )


def chaosops_eval(policy: str, out: Path) -> list[dict[str, Any]]:
    words = [w for name, value in EPISODES.items() for w in (f"--{name.replace('_', '-')}", value)]
    named = ["--team", policy] if "=" in policy.partition("@")[0] else ["--policies", policy]
    assert main(["eval", *named, *words, "--out", str(out), "--no-figures"]) == 0
    return [dict(line) for line in read_results(out)[1]]


def rewards(episode: dict[str, Any]) -> dict[str, dict[str, float]]:
    """By agent and name."""
    return {
        trace["agent"]["name"]: {n: reward["score"] for n, reward in trace["rewards"].items()}
        for trace in episode["traces"]
    }


def test_four_agents_earn_what_eval_counts(endpoint: FaultyServer, tmp_path: Path) -> None:
    """One seat is trained. Another model sits in another seat."""
    options = ("--env.train", '["oversight"]', "--env.dev.model", "other")
    played = vf_eval(endpoint, tmp_path / "vf", *options)
    asked = {json.dumps(body["messages"]) for body in endpoint.seen}
    assert {body["model"] for body in endpoint.seen} == {"fake", "other"}
    endpoint.seen.clear()
    counted = chaosops_eval(f"openai:fake@{endpoint.url}", tmp_path / "eval")
    assert {json.dumps(b["messages"]) for b in endpoint.seen if len(b["messages"]) == 2} == asked
    assert len(played) == len(counted) == 3
    for episode, line in zip(played, counted, strict=True):
        earned = rewards(episode)
        assert set(earned) == ROLES
        assert {of["team"] for of in earned.values()} == {line["reward"]}
        assert sum(of["own"] for of in earned.values()) == pytest.approx(line["reward"])
        assert len({of["own"] for of in earned.values()}) > 1
        trained = {t["agent"]["name"] for t in episode["traces"] if t["agent"]["trainable"]}
        assert trained == {"oversight"}
        (metrics,) = {json.dumps(trace["metrics"]) for trace in episode["traces"]}
        figures = json.loads(metrics)
        assert figures["steps"] == line["steps"]
        assert figures["unreadable_replies"] == line["unreadable_replies"] > 0


def test_one_seat_beside_scripts_earns_what_eval_counts(
    endpoint: FaultyServer, tmp_path: Path
) -> None:
    options = ("--env.seats", '["oversight"]', "--env.partners", "heuristic")
    weights = ("--env.own-weight", "2", "--env.team-weight", "0.5")
    played = vf_eval(endpoint, tmp_path / "vf", *options, *weights)
    team = f"oversight=openai:fake@{endpoint.url},others=heuristic"
    counted = chaosops_eval(team, tmp_path / "eval")
    for episode, line in zip(played, counted, strict=True):
        assert rewards(episode)["oversight"]["team"] == pytest.approx(line["reward"])
        (trace,) = episode["traces"]
        assert {name: of["weight"] for name, of in trace["rewards"].items()} == {
            "team": 0.5,
            "own": 2.0,
        }


def test_an_agent_at_its_limit_misses_its_turns(endpoint: FaultyServer, tmp_path: Path) -> None:
    options = ("--env.seats", '["oversight"]', "--env.oversight.max-turns", "1", "-n", "1")
    (episode,) = vf_eval(endpoint, tmp_path / "vf", *options)
    (body,) = endpoint.seen
    seat = Seat(make_scenario(pack="arena", split="test", tier="hard", seed=5), "oversight")
    seat.act(reply_to(body))
    seat.finish()
    assert rewards(episode)["oversight"]["team"] == pytest.approx(seat.episode.reward)


def test_a_failing_endpoint_earns_nothing(endpoint: FaultyServer, tmp_path: Path) -> None:
    endpoint.always = status(500)
    (episode,) = vf_eval(endpoint, tmp_path / "vf", "-n", "1")
    assert not episode["ok"]
    assert "sre got no reply" in episode["errors"][0]["message"]
    assert set(map(json.dumps, rewards(episode).values())) == {"{}"}


MISTAKES = """
from chaosops_verifiers import load_environment
env = load_environment(pack="classic", seeds=1, tiers=["easy"], format="menu")
print(len(list(env.taskset)), env.config.seats)
for options in ({"seats": ["sre", "dev"]}, {"seats": ["sre"], "train": ["dev"]},
                {"partners": "heruistic", "seats": ["sre"]}, {"pack": "aerna"}):
    try:
        list(load_environment(**options).taskset)
    except Exception as error:
        print(error)
"""


def test_load_environment_names_mistakes(tmp_path: Path) -> None:
    ran = in_environment(tmp_path, "python", "-c", MISTAKES)
    assert ran.returncode == 0, ran.stderr
    first, seats, train, partners, pack = ran.stdout.splitlines()
    assert first == "9 ['sre', 'oversight', 'dev', 'manager']"
    assert seats == "seats are one role or all four; let partners play the others"
    assert train == "train names dev, which no seat plays"
    assert "did you mean 'heuristic'" in partners
    assert "did you mean 'arena'" in pack
