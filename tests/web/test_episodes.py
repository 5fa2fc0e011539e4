from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from chaosops.env import Env
from chaosops.policies.registry import load_policy
from chaosops.report.frames import frame_of
from chaosops.rollout import Rollout, Team, advance, load_team, play
from chaosops.web.choices import DEFAULTS, MYSTERY, catalogue, read_scenario
from chaosops.web.wire import tail
from tests.web.conftest import Message

if TYPE_CHECKING:
    import httpx

Ask = Callable[..., list[Message]]
ARENA = {"pack": "arena", "split": "test", "tier": "hard", "seed": "3"}
CLASSIC = {"scenario": "autoscaler_cost_cut", "tier": "hard", "seed": "42"}


@pytest.mark.parametrize("policy", ["random", "keyword", "heuristic", "oracle"])
@pytest.mark.parametrize("query", [CLASSIC, ARENA], ids=["classic", "arena"])
def test_the_page_shows_what_the_world_plays(
    episode: Ask, policy: str, query: dict[str, str]
) -> None:
    start, *frames, file = episode(policy=policy, **query)
    played = play(read_scenario(query), Team.of(load_policy(policy)))
    assert start["kind"] == "start"
    assert start["limit"] == played.scenario.limit
    assert [frame["step"] for frame in frames] == list(range(played.steps + 1))
    last = frames[-1]
    assert last["reward"] == played.reward
    assert last["rubrics"] == played.rubric_totals
    assert last["wrong_fixes"] == played.wrong_fixes
    assert sum(not flag["caught"] for flag in last["flags"]) == played.false_flags
    assert last["outcome"]["rogue"] == played.rogue
    assert all(frame["outcome"] is None for frame in frames[:-1])
    assert (file["kind"], file["rogue"]) == ("case_file", played.rogue)
    assert [turn["role"] for turn in file["turns"]] == [turn.role.value for turn in played.turns]


def test_partners_play_the_other_roles(episode: Ask, client: httpx.Client) -> None:
    start, *frames, _ = episode(policy="auditor", role="oversight", partners="random", **ARENA)
    team = "oversight=auditor,others=random"
    played = play(read_scenario(ARENA), load_team(team))
    alone = play(read_scenario(ARENA), load_team("auditor"))
    assert start["team"] == team
    assert frames[-1]["reward"] == played.reward != alone.reward
    assert [f["turn"]["words"] for f in frames[1:]] == [
        str(t.decision.action) for t in played.turns
    ]
    # More often than a visitor has slots: a refusal takes none.
    for wrong in 20 * ({"partners": "nobody"}, {"partners": "random", "role": "king"}):
        assert client.get("/api/episode", params={"policy": "auditor", **wrong}).status_code == 400


def test_equal_links_give_equal_bytes(client: httpx.Client) -> None:
    first, second = (client.get("/api/episode", params={"policy": "random"}) for _ in range(2))
    assert first.content == second.content


def test_lists_are_rebuilt_from_what_was_added(episode: Ask) -> None:
    _, *wires, _ = episode(policy="heuristic", **ARENA)
    rollout = Rollout(Env(read_scenario(ARENA)), Team.of(load_policy("heuristic")))
    frame = frame_of(rollout)
    whole: dict[str, list[Any]] = {name: [] for name in ("logs", "trace", "chat", "findings")}
    for wire in wires:
        for name, items in whole.items():
            items[:] = [*items[wire[name]["drop"] :], *wire[name]["add"]]
            assert [item["step"] for item in items] == [item.step for item in getattr(frame, name)]
        assert [line["text"] for line in whole["logs"]] == [line.text for line in frame.logs]
        if not rollout.env.over:
            advance([rollout])
            frame = frame_of(rollout, frame)


@pytest.mark.parametrize(
    ("old", "new"), [("", "ab"), ("ab", "abc"), ("abc", "bcd"), ("abc", "xyz"), ("ab", "ab")]
)
def test_a_tail_makes_the_new_from_the_old(old: str, new: str) -> None:
    step = tail(old, new)
    assert old[step["drop"] :] + "".join(step["add"]) == new


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"tier": "insane"}, "allowed: easy, medium, hard"),
        ({"pack": "modern"}, "allowed: classic, arena"),
        ({"scenario": "meteor"}, "unknown incident 'meteor'; did you mean 'mystery'? allowed: "),
        ({"scenario": "inc-1"}, "allowed: mystery, inc-103, inc-212"),
        (
            {"pack": "arena", "scenario": "inc-103"},
            "no incident to name, got 'inc-103'",
        ),
        ({"pack": "arena", "split": "tset"}, "did you mean 'test'"),
        ({"seed": "-1"}, "seed must be a whole number from 0 to 4294967295, got '-1'"),
        ({"seed": "٤٢"}, "seed must be a whole number"),
        ({"seed": "9" * 5000}, "seed must be a whole number"),
        ({"policy": "orcale"}, "did you mean 'oracle'"),
        ({"moves": "noop"}, "moves must be a JSON list"),
        ({"moves": "[" * 9000}, "at most 8000 characters"),
        ({"moves": "[{}]", "role": "ceo"}, "allowed: sre, oversight, dev, manager"),
    ],
)
def test_a_bad_value_says_what_is_allowed(
    client: httpx.Client, query: dict[str, str], words: str
) -> None:
    response = client.get("/api/episode", params=query)
    assert response.status_code == 400
    assert words in response.json()["detail"]


@pytest.mark.parametrize(
    "policy",
    [
        "local:smollm2+adapter=/etc",
        "local:smollm2+format=menu",
        "hf:owner/name",
        "openai:model@http://127.0.0.1:1/v1",
        "/etc/passwd",
        "../../weights.gguf",
        "oversight=random,others=oracle",
        "optimal",
    ],
)
def test_a_visitor_can_name_only_what_is_on_the_list(client: httpx.Client, policy: str) -> None:
    for path, name in (("/api/episode", "policy"), ("/api/seats", "partners")):
        method = "GET" if name == "policy" else "POST"
        response = client.request(method, path, params={name: policy})
        assert response.status_code == 400
        assert "unknown policy" in response.json()["detail"]


def test_a_mystery_is_the_same_for_everybody_and_not_always_the_same() -> None:
    chosen = {seed: read_scenario({"scenario": MYSTERY, "seed": str(seed)}) for seed in range(60)}
    assert chosen[7] == read_scenario({"scenario": MYSTERY, "seed": "7"})
    assert len({scenario.failure for scenario in chosen.values()}) == 9


def test_the_catalogue_offers_what_a_first_visit_runs(client: httpx.Client) -> None:
    offered = client.get("/api/catalogue").json()
    assert offered["defaults"] == DEFAULTS
    names = {policy["name"] for policy in offered["policies"]}
    assert {DEFAULTS["left"], DEFAULTS["right"], DEFAULTS["partners"]} <= names
    assert DEFAULTS["scenario"] in catalogue()["packs"][0]["scenarios"]
    assert DEFAULTS["split"] in catalogue()["packs"][1]["splits"]
