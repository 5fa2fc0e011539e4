from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from chaosops.core.actions import to_wire
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.policies.registry import load_policy
from chaosops.roles.view import project
from chaosops.rollout import Team, play
from chaosops.web.choices import read_scenario
from chaosops.wire.views import view_to_wire
from tests.web.conftest import Message, messages

if TYPE_CHECKING:
    import httpx

ARENA = {"pack": "arena", "split": "test", "tier": "medium", "seed": "11"}
JSON = {"Content-Type": "application/json"}
CLASSIC = {"scenario": "rogue_deploy_bot", "tier": "hard", "seed": "4"}


def sit(
    client: httpx.Client, query: Mapping[str, str], role: str, partners: str = "heuristic"
) -> list[Message]:
    params = {**query, "role": role, "partners": partners}
    return messages(client.post("/api/seats", params=params))


def do(client: httpx.Client, seat: str, move: object) -> httpx.Response:
    return client.post(f"/api/seats/{seat}/moves", json=move)


def play_through(
    client: httpx.Client, query: Mapping[str, str], role: str, policy: str
) -> tuple[list[Message], list[Message], list[Message]]:
    """A visitor who does what a policy would do: (before the end, after it, the moves)."""
    before = sit(client, query, role)
    seat = before[0]["seat"]
    episode = play(read_scenario(query), Team.of(load_policy(policy)))
    moves = [to_wire(turn.decision.action) for turn in episode.turns if turn.role == role]
    for move in moves:
        told = messages(do(client, seat, move))
        kinds = [message["kind"] for message in told]
        if "over" in kinds:
            return before, told[kinds.index("over") :], moves
        before += told
    raise AssertionError("the episode should have ended")


@pytest.mark.parametrize("role", [role.value for role in Role][:3])
@pytest.mark.parametrize("query", [CLASSIC, ARENA], ids=["classic", "arena"])
def test_who_plays_like_the_heuristic_earns_what_it_earns(
    client: httpx.Client, query: Mapping[str, str], role: str
) -> None:
    _, after, moves = play_through(client, query, role, "heuristic")
    reward = play(read_scenario(query), Team.of(load_policy("heuristic"))).reward
    assert after[-1]["reward"] == reward
    # The link to one's own episode shows it again.
    params = {**query, "role": role, "policy": "heuristic", "moves": json.dumps(moves)}
    again = messages(client.get("/api/episode", params=params))
    assert again == after[1:]


RULE_KEYS = {
    *("services", "agents", "causes", "verbs", "replica_choices", "calls", "limits_pct"),
}
VIEW_KEYS = {"health", "metrics", "logs", "alerts", "chat", "trace", "inspections", "audits"}


@pytest.mark.parametrize("role", [role.value for role in Role])
@pytest.mark.parametrize("query", [CLASSIC, ARENA], ids=["classic", "arena"])
def test_until_the_end_a_player_is_sent_his_view_and_nothing_else(
    client: httpx.Client, query: Mapping[str, str], role: str
) -> None:
    told = sit(client, query, role)
    env = Env(read_scenario(query))
    heuristic = Team.of(load_policy("heuristic"))
    episode = play(read_scenario(query), heuristic)
    views = [message for message in told if message["kind"] == "view"]
    for i, message in enumerate(views):
        wanted = json.loads(json.dumps(view_to_wire(project(env.world.public, Role(role)))))
        assert {k: v for k, v in message.items() if k not in ("kind", "on_turn")} == wanted
        if i + 1 < len(views):
            env.play(episode.turns[i].decision)
    for message in told:
        assert allowed_keys(message) >= set(message), message["kind"]


def allowed_keys(message: Message) -> set[str]:
    return {
        "seated": {"kind", "seat", "role", *RULE_KEYS},
        "view": {"kind", "on_turn", "role", "step", "limit", *VIEW_KEYS},
        "your_turn": {"kind", "menu"},
    }[message["kind"]]


def test_a_flag_is_not_judged_before_the_end(client: httpx.Client) -> None:
    """Right or wrong, the answer to a flag has one form, and no word of a verdict."""
    forms = set()
    for target in ("deploy_bot", "autoscaler"):
        seat = sit(client, CLASSIC, "oversight", partners="random")[0]["seat"]
        told = messages(do(client, seat, {"action": "flag_rogue", "target": target}))
        assert told[-1]["kind"] == "your_turn"
        text = json.dumps(told)
        assert not any(word in text for word in ("reward", "rubric", "caught", "innocent", "+50"))
        forms.add(str([(message["kind"], sorted(message)) for message in told]))
    assert len(forms) == 1


def test_other_roles_views_stay_theirs(client: httpx.Client) -> None:
    told = sit(client, ARENA, "manager")
    known = ("services", "calls", "agents", "limits_pct")
    assert not any(told[0][name] for name in known)
    developer = sit(client, ARENA, "dev")[0]
    assert [bool(developer[name]) for name in known] == [True, True, False, False]
    assert all(sit(client, ARENA, "oversight")[0][name] for name in known)
    views = [message for message in told if message["kind"] == "view"]
    assert all(not v["metrics"] and not v["trace"] and not v["logs"] for v in views)
    assert all(alert["text"] == "" for view in views for alert in view["alerts"])


@pytest.mark.parametrize(
    ("move", "words"),
    [
        ({"action": "flag_rogue", "target": "nobody"}, "oversight cannot do"),
        ({"action": "dance"}, "not an action"),
        ({"action": "communicate", "message": "x" * 400}, "1 to 300 characters"),
        ({"action": "communicate", "message": "hi", "to": "ceo"}, "unknown_role"),
        ([1, 2], "must be a JSON object"),
    ],
)
def test_a_move_that_is_none_can_be_made_again(client: httpx.Client, move: Any, words: str) -> None:
    seat = sit(client, CLASSIC, "oversight")[0]["seat"]
    response = do(client, seat, move)
    assert response.status_code == 400
    assert words in response.json()["error"]
    assert messages(do(client, seat, {"action": "noop"}))[-1]["kind"] == "your_turn"


def test_a_body_that_is_no_move(client: httpx.Client) -> None:
    seat = sit(client, CLASSIC, "oversight")[0]["seat"]
    for body, words in ((b"{", "JSON object"), (b" " * 20_000, "at most 10000 bytes")):
        response = client.post(f"/api/seats/{seat}/moves", content=body, headers=JSON)
        assert response.status_code == 400
        assert words in response.json()["error"]


def test_a_seat_belongs_to_who_knows_its_key(client: httpx.Client) -> None:
    seat = sit(client, CLASSIC, "oversight")[0]["seat"]
    assert do(client, seat[:-1] + "x", {"action": "noop"}).status_code == 410
    assert client.post(f"/api/seats/{seat}/leave").status_code == 204
    gone = do(client, seat, {"action": "noop"})
    assert gone.status_code == 410
    assert "take a new seat" in gone.json()["error"]


def test_who_knows_the_truth_is_no_partner(client: httpx.Client) -> None:
    params = {"role": "oversight", "partners": "oracle"}
    (told,) = messages(client.post("/api/seats", params=params))
    assert told["kind"] == "stopped"
    assert "knows the truth" in told["why"]


def test_a_link_with_too_few_moves_says_so(client: httpx.Client) -> None:
    params = {**CLASSIC, "role": "oversight", "policy": "heuristic", "moves": "[]"}
    told = messages(client.get("/api/episode", params={**params, "moves": '[{"action": "noop"}]'}))
    assert told[-1]["kind"] == "stopped"
    assert "holds 1 moves" in told[-1]["why"]


def test_who_names_no_incident_gets_a_mystery(client: httpx.Client) -> None:
    asked = {"tier": "hard", "seed": "5"}
    named = {name: {**asked, "scenario": name} for name in ("mystery", "autoscaler_cost_cut", "")}
    bare, mystery, known, empty = (
        sit(client, query, "oversight")[1:]
        for query in (asked, named["mystery"], named["autoscaler_cost_cut"], named[""])
    )
    assert bare == mystery == empty
    assert bare != known
