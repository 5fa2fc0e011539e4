from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from chaosops.core.actions import to_wire
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import load_pack
from chaosops.policies.registry import load_policy
from chaosops.report.wording import worded_view
from chaosops.roles.view import project
from chaosops.rollout import Team, play
from chaosops.web.choices import read_scenario
from chaosops.wire.views import view_to_wire
from tests.keys import large_numbers
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
    assert after[-2]["reward"] == reward
    assert after[-1]["kind"] == "case_file"
    # The link to one's own episode shows it again.
    params = {**query, "role": role, "policy": "heuristic", "moves": json.dumps(moves)}
    again = messages(client.get("/api/episode", params=params))
    assert again == after[1:]


RULE_KEYS = {
    *("services", "agents", "causes", "verbs", "replica_choices", "calls", "limits_pct"),
    *("layout", "runbook", "charter"),
}
VIEW_KEYS = {
    *("health", "metrics", "logs", "alerts", "chat", "trace", "inspections", "audits"),
    *("relevant", "suspects"),
}


@pytest.mark.parametrize("role", [role.value for role in Role])
@pytest.mark.parametrize("query", [CLASSIC, ARENA], ids=["classic", "arena"])
def test_until_the_end_a_player_is_sent_his_view_and_nothing_else(
    client: httpx.Client, query: Mapping[str, str], role: str
) -> None:
    told = sit(client, query, role)
    env = Env(read_scenario(query))
    wordings = load_pack(env.scenario.pack).wordings
    heuristic = Team.of(load_policy("heuristic"))
    episode = play(read_scenario(query), heuristic)
    views = [message for message in told if message["kind"] == "view"]
    for i, message in enumerate(views):
        seen = worded_view(project(env.world.public, Role(role)), wordings)
        wanted = json.loads(json.dumps(view_to_wire(seen)))
        added = ("kind", "on_turn", "relevant", "suspects")
        assert {k: v for k, v in message.items() if k not in added} == wanted
        if i + 1 < len(views):
            env.play(episode.turns[i].decision)
    for message in told:
        assert allowed_keys(message) >= set(message), message["kind"]


def allowed_keys(message: Message) -> set[str]:
    return {
        "seated": {"kind", "seat", "role", "introduction", *RULE_KEYS},
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
    known = ("services", "calls", "agents", "charter")
    assert not any(told[0][name] for name in known)
    developer = sit(client, ARENA, "dev")[0]
    assert [bool(developer[name]) for name in known] == [True, True, False, False]
    assert all(sit(client, ARENA, "oversight")[0][name] for name in known)
    views = [message for message in told if message["kind"] == "view"]
    assert all(not v["metrics"] and not v["trace"] and not v["logs"] for v in views)
    assert all(alert["text"] == "" for view in views for alert in view["alerts"])


def test_before_the_end_no_id_of_a_failure_is_sent(client: httpx.Client) -> None:
    """Not to who plays, and not to who watches a mystery."""
    ids = [name for name in load_pack("classic").failures() if "_" in name]
    mystery = {"scenario": "mystery", "tier": "hard", "seed": "5"}
    for role in Role:
        before, after, _ = play_through(client, mystery, role.value, "heuristic")
        # Prompts, which a case file shows, have ids.
        assert after.pop()["kind"] == "case_file"
        for message in (*before, *after):
            assert not any(name in json.dumps(message) for name in ids), message["kind"]
    *watched, _ = messages(client.get("/api/episode", params={**mystery, "policy": "oracle"}))
    assert not any(name in json.dumps(watched) for name in ids)
    assert watched[-1]["outcome"]["cause"] == "crashing workers"


def test_a_flag_names_an_act(client: httpx.Client) -> None:
    told = sit(client, ARENA, "oversight")
    seat, view, menu = told[0]["seat"], told[-2], told[-1]["menu"]
    acts = {entry["id"]: entry["agent"] for entry in view["trace"]}
    (flags,) = (group for group in menu if group["verb"] == "flag_rogue")
    offered = [choice["move"] for choice in flags["choices"]]
    assert {move["evidence"]: move["target"] for move in offered} == acts
    near = [choice["move"]["evidence"] for choice in flags["choices"] if choice["near"]]
    assert near == view["relevant"]["acts"]
    act, agent = near[0], acts[near[0]]
    other = next(name for name in acts.values() if name != agent)
    flag = {"action": "flag_rogue", "target": agent}
    for move, words in (
        ({**flag, "evidence": 9999}, "no act has the number 9999"),
        ({**flag, "target": other, "evidence": act}, f"act #{act} is by {agent}"),
    ):
        refused = do(client, seat, move)
        assert (refused.status_code, words in refused.json()["detail"]) == (400, True)
    told = messages(do(client, seat, {**flag, "evidence": act}))
    chat = [one for one in told if one["kind"] == "view"][-1]["chat"]
    assert {**flag, "evidence": act} in [message.get("action") for message in chat]


def test_documents_are_sent_and_selected(client: httpx.Client) -> None:
    seated, *_, view, _ = sit(client, ARENA, "oversight")
    pages, agents = {page["name"] for page in seated["runbook"]}, set(seated["charter"])
    assert all(page["signs"] == page["remedy"] == "" for page in seated["runbook"])
    assert set(view["relevant"]["pages"]) < pages
    assert set(view["relevant"]["agents"]) <= agents
    developer = sit(client, ARENA, "dev")[0]
    assert not developer["charter"]
    assert all(page["remedy"] for page in developer["runbook"])
    start, *frames, _ = messages(client.get("/api/episode", params={**ARENA, "policy": "auditor"}))
    assert {page["name"] for page in start["runbook"]} == pages
    assert "menus" not in start
    assert all(set(frame["relevant"]["pages"]) <= pages for frame in frames)
    assert not any(frame["outcome"] for frame in frames[:-1])
    assert "does damage" in frames[-1]["outcome"]["explanation"][0]


@pytest.mark.parametrize("role", Role)
def test_no_message_to_a_visitor_holds_a_key(client: httpx.Client, role: Role) -> None:
    seated, *told = sit(client, ARENA, role)
    told += messages(do(client, seated["seat"], {"action": "noop"}))
    client.post(f"/api/seats/{seated.pop('seat')}/leave")
    assert not large_numbers([seated, *told])


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
    assert words in response.json()["detail"]
    assert messages(do(client, seat, {"action": "noop"}))[-1]["kind"] == "your_turn"


def test_a_body_that_is_no_move(client: httpx.Client) -> None:
    seat = sit(client, CLASSIC, "oversight")[0]["seat"]
    for body, words in ((b"{", "JSON object"), (b" " * 20_000, "at most 10000 bytes")):
        response = client.post(f"/api/seats/{seat}/moves", content=body, headers=JSON)
        assert response.status_code == 400
        assert words in response.json()["detail"]


def test_a_seat_belongs_to_who_knows_its_key(client: httpx.Client) -> None:
    seat = sit(client, CLASSIC, "oversight")[0]["seat"]
    assert do(client, seat[:-1] + "x", {"action": "noop"}).status_code == 410
    assert client.post(f"/api/seats/{seat}/leave").status_code == 204
    gone = do(client, seat, {"action": "noop"})
    assert gone.status_code == 410
    assert "take a new seat" in gone.json()["detail"]


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
