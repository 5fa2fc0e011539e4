"""Recorded cases: what the server tells before and after they are revealed."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from chaosops.core.actions import FlagRogue, Noop, to_wire
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput
from chaosops.env import Env
from chaosops.rollout import load_team, play
from chaosops.web.case_recording import CASES, record
from chaosops.web.recorded_cases import FOLDER, RecordedCases
from chaosops.web.routes import Settings, build_router
from tests.web.conftest import messages

NAMES = sorted(CASES)
WHICH = "Which AI agent broke production?"


@pytest.fixture(scope="module")
def cases() -> RecordedCases:
    return RecordedCases()


def question(client: httpx.Client, name: str) -> dict[str, Any]:
    response = client.get(f"/api/cases/{name}")
    assert response.status_code == 200
    found: dict[str, Any] = response.json()
    return found


def reveal(client: httpx.Client, name: str, accused: str) -> dict[str, Any]:
    response = client.post(f"/api/cases/{name}/reveal", json={"accused": accused})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def test_every_case_is_recorded_and_no_other(client: httpx.Client) -> None:
    listed = client.get("/api/cases").json()
    assert [case["name"] for case in listed["cases"]] == list(CASES)
    assert [case["number"] for case in listed["cases"]] == list(range(1, len(CASES) + 1))


@pytest.mark.parametrize("name", NAMES)
def test_the_recorded_policies_would_play_the_same_again(cases: RecordedCases, name: str) -> None:
    for one in cases.find(name).recorded.values():
        if one.manifest["policy_status"].get("kind") != "scripted":
            continue
        again = play(cases.find(name).scenario, load_team(one.team))
        assert [to_wire(t.decision.action) for t in again.turns] == [
            to_wire(t.decision.action) for t in one.episode.turns
        ]


def test_no_answer_before_the_reveal_tells_the_truth(
    client: httpx.Client, cases: RecordedCases
) -> None:
    """Everything the server sends about cases, but for what is asked with an accusation."""
    overview = client.get("/api/cases").text
    for case in cases.all:
        paths = (f"/api/cases/{case.name}", f"/case/{case.name}", f"/embed/{case.name}")
        texts = [overview, *(client.get(path).text for path in paths)]
        told = [*case.file.story, *case.file.also, case.file.method]
        for text in texts:
            assert not any(sentence and sentence in text for sentence in told)
            for word in ("rogue", "culprit", "forged", "caught", "verdict", "suspicion", "outcome"):
                found = re.findall(rf'"{word}\w*":(?!null)(?!false)', text)
                assert found == [], (case.name, found)


# They tell the truth to who asks for it: a whole episode, a replay, an accusation.
TELLS = {"/api/episode", "/api/cases/{name}/replay", "/api/cases/{name}/reveal"}
FILLED = {"{name}": "heron", "{key}": "none", "{path:path}": "case.js"}


def test_no_other_route_tells_the_truth(client: httpx.Client, cases: RecordedCases) -> None:
    """All routes of the server, also those that are added later."""
    case = cases.find("heron")
    told = [*case.file.story, case.file.method]
    asked = set()
    for route in build_router(Settings(results=())).routes:
        path = getattr(route, "path", "")
        if path in TELLS or "GET" not in getattr(route, "methods", ()):
            continue
        asked.add(path)
        for name, value in FILLED.items():
            path = path.replace(name, value)
        query = {**case.summary()["scenario"], "policy": "auditor", "role": "oversight"}
        text = client.get(path, params=query).text
        assert not any(sentence in text for sentence in told), path
    assert {"/", "/api/cases", "/api/cases/{name}", "/case/{name}", "/embed/{name}"} <= asked


def test_what_is_shown_before_does_not_depend_on_who_is_guilty(
    client: httpx.Client, cases: RecordedCases
) -> None:
    """Nobody acts, so no frame has a turn, a reward, a flag, a message or an audit."""
    for case in cases.all:
        start, *frames = question(client, case.name)["lines"]
        assert start["kind"] == "start"
        assert len(frames) > 5
        for frame in frames:
            assert not {"turn", "outcome", "flags", "flag", "reward", "rubrics"} & set(frame)
            assert frame["chat"]["add"] == frame["findings"]["add"] == []


def test_the_right_accusation_is_right_and_all_others_are_wrong(
    client: httpx.Client, cases: RecordedCases
) -> None:
    kinds = set()
    for case in cases.all:
        rogue = case.file.rogue
        agents = question(client, case.name)["agents"]
        assert 3 <= len(agents) <= 6
        for accused in (*agents, "nobody"):
            told = reveal(client, case.name, accused)
            verdict = told["verdict"]
            assert verdict["rogue"] == rogue
            assert verdict["right"] == (accused == (rogue or "nobody"))
            assert verdict["words"][0] == f"You accused {accused}."
            assert {one["policy"] for one in told["policies"]} >= {"heuristic", "auditor"}
        kinds.add(case.file.method if rogue else None)
    assert len(kinds) > 3  # cases of several kinds, and some without a rogue
    assert None in kinds


def test_a_framed_agent_is_told_to_be_framed(client: httpx.Client, cases: RecordedCases) -> None:
    case = cases.find("heron")
    (framed,) = (one.agent for one in case.file.suspects if one.verdict == "framed")
    words = " ".join(reveal(client, "heron", framed)["verdict"]["words"])
    assert f"It was framed. The rogue is {case.file.rogue}." in words
    assert f"forged an act of {framed}" in words
    assert next(c.text for c in case.file.clauses if c.broken) in words


def test_a_replay_is_the_whole_episode_with_its_case_file(client: httpx.Client) -> None:
    lines = messages(client.get("/api/cases/heron/replay", params={"policy": "auditor"}))
    start, *frames, file = lines
    assert start["recorded"]["policy"] == "auditor"
    assert re.fullmatch(r"[0-9a-f]{40}", start["recorded"]["commit"])
    assert {frame["kind"] for frame in frames} == {"frame"}
    assert frames[-1]["outcome"]["rogue"] == file["rogue"]
    assert file["kind"] == "case_file"
    assert len(file["turns"]) == len(frames) - 1
    live = messages(
        client.get(
            "/api/episode",
            params={**question(client, "heron")["scenario"], "policy": "auditor"},
        )
    )
    assert live[-1] == {**file, "team": "auditor"}
    assert live[1:-1] == frames


def test_an_agent_that_is_flagged_twice_is_told_once(cases: RecordedCases) -> None:
    one = next(iter(cases.find("wren").recorded.values()))
    agent, other = cases.find("wren").agents[:2]
    env = Env(one.episode.scenario)
    actions = [Noop(), FlagRogue(agent), *[Noop()] * 3, FlagRogue(agent)]
    actions += [*[Noop()] * 3, FlagRogue(other)]
    turns = [env.play(Decision(action)) for action in actions]
    figures = one._replace(episode=replace(one.episode, turns=turns)).figures()
    assert [(flag["agent"], flag["step"]) for flag in figures["flags"]] == [(agent, 2), (other, 10)]
    assert figures["false_flags"] == 2


def test_the_recorded_cases_tell_each_flag_once(cases: RecordedCases) -> None:
    for case in cases.all:
        for one in case.recorded.values():
            agents = [flag["agent"] for flag in one.figures()["flags"]]
            assert len(agents) == len(set(agents)), (case.name, one.policy)
            assert any(flag["caught"] for flag in one.figures()["flags"]) is bool(
                one.episode.rogue_caught
            )


def test_who_cannot_read_gzip_gets_the_text(client: httpx.Client) -> None:
    plain = client.get("/api/cases/wren", headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    assert plain.json() == question(client, "wren")
    again = client.get("/api/cases/wren", headers={"If-None-Match": plain.headers["ETag"]})
    assert again.status_code == 304


def test_a_vote_on_no_case_is_refused(client: httpx.Client) -> None:
    response = client.post("/api/cases/ostrich/reveal", json={"accused": "nobody"})
    assert response.status_code == 404
    assert "unknown case 'ostrich'" in response.json()["detail"]


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/api/cases/heron/reveal", {"accused": "gremlin"}, "unknown agent 'gremlin'"),
        ("/api/cases/heron/reveal", {}, "an accusation must be"),
        ("/api/cases/heron/reveal", [1], "an accusation must be"),
    ],
)
def test_a_bad_accusation_is_refused_with_what_is_allowed(
    client: httpx.Client, path: str, body: object, words: str
) -> None:
    response = client.post(path, json=body)
    assert response.status_code == 400
    assert words in response.json()["detail"]


def test_an_unknown_replay_is_refused(client: httpx.Client) -> None:
    response = client.get("/api/cases/heron/replay", params={"policy": "oracle"})
    assert response.status_code == 400
    assert "heuristic" in response.json()["detail"]


def test_the_case_of_the_day_visits_all_cases(cases: RecordedCases) -> None:
    days = [date(2027, 1, 1) + timedelta(days=i) for i in range(len(CASES))]
    named = [case.name for day in days if (case := cases.today(day))]
    assert sorted(named) == NAMES
    assert cases.after(cases.all[-1].name).name == cases.all[0].name


def test_a_link_is_shown_with_a_title_and_a_picture(client: httpx.Client) -> None:
    for name in NAMES:
        page = client.get(f"/case/{name}")
        assert page.status_code == 200
        said = dict(re.findall(r'<meta property="(og:[\w:]+)" content="([^"]+)">', page.text))
        assert said["og:title"] == f"Case {list(CASES).index(name) + 1}: {name}. " + WHICH
        assert said["og:url"] == f"{client.base_url}/case/{name}"
        picture = httpx.get(said["og:image"])
        assert picture.headers["Content-Type"] == "image/png"
        width, height = struct.unpack(">II", picture.content[16:24])
        assert (str(width), str(height)) == (said["og:image:width"], said["og:image:height"])
        assert len(picture.content) < 60_000


def test_the_address_of_the_day_leads_to_a_case(client: httpx.Client) -> None:
    today = client.get("/api/cases").json()["today"]
    moved = client.get("/case/today")
    assert (moved.status_code, moved.headers["Location"]) == (307, today)
    assert client.get("/api/cases/today").json()["name"] == today
    assert reveal(client, "today", "nobody")["name"] == today
    replay = client.get("/api/cases/today/replay", params={"policy": "auditor"})
    assert replay.text == client.get(f"/api/cases/{today}/replay?policy=auditor").text


@pytest.mark.parametrize("path", ["case", "embed"])
def test_the_address_of_the_day_keeps_its_step(client: httpx.Client, path: str) -> None:
    today = client.get("/api/cases").json()["today"]
    moved = client.get(f"/{path}/today?step=7")
    assert moved.headers["Location"] == f"{today}?step=7"


def test_an_unknown_case_is_a_page_for_people(client: httpx.Client) -> None:
    page = client.get("/case/ostrich", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert "There is no page at this address" in page.text
    assert client.get("/api/cases/ostrich").status_code == 404


@pytest.mark.parametrize("path", ["/case", "/case/", "/embed"])
def test_all_cases_are_listed_and_nothing_is_told(
    client: httpx.Client, cases: RecordedCases, path: str
) -> None:
    page = client.get(path, headers={"Accept": "text/html"}, follow_redirects=True)
    assert page.status_code == 200
    links = re.findall(r'href="(\./case/\w+)"', page.text)
    assert links == [f"./case/{name}" for name in ("today", *CASES)]
    for link in links:
        assert client.get(page.url.join(link), follow_redirects=True).status_code == 200
    assert not any(text in page.text for case in cases.all for text in case.file.story)


def test_recording_keeps_what_others_have_recorded(tmp_path: Path) -> None:
    record(["heuristic"], tmp_path)
    record(["oversight=random,others=heuristic"], tmp_path)
    found = RecordedCases(tmp_path)
    assert found.find("wren").policies == ["heuristic", "random"]
    assert found.find("wren").recorded["random"].team == "oversight=random,others=heuristic"
    record(["heuristic"], tmp_path)
    assert RecordedCases(tmp_path).find("wren").policies == ["random", "heuristic"]


@pytest.mark.parametrize("name", NAMES)
def test_the_package_has_what_the_script_writes(name: str) -> None:
    content = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    tier, seed = CASES[name]
    assert (content["scenario"]["tier"], content["scenario"]["seed"]) == (tier, seed)
    assert content["number"] == list(CASES).index(name) + 1


def test_a_damaged_case_says_how_to_record_it_again(tmp_path: Path) -> None:
    (tmp_path / "heron.json").write_text('{"format": "something else"}', encoding="utf-8")
    with pytest.raises(BadInput, match=r"python -m scripts\.record_cases"):
        RecordedCases(tmp_path).find("heron")
