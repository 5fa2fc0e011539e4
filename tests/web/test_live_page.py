"""The page offers a pack in real time only where the server permits it, one episode at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from chaosops.core.errors import BadInput
from chaosops.packs.live import PACK
from chaosops.server.options import chosen_scenario, read_options
from chaosops.web import real_time
from chaosops.web.choices import catalogue, live_choice
from tests.web.conftest import messages
from tests.web.live_companies import SLOWLY, Companies, allowed, until

if TYPE_CHECKING:
    import httpx

LIVE = {"pack": "live", "tier": "easy", "seed": "2"}


@pytest.fixture
def companies() -> Iterator[Companies]:
    with allowed() as found:
        yield found


def names() -> list[str]:
    return [pack["name"] for pack in catalogue()["packs"]]


def states(**state: str) -> list[dict[str, Any]]:
    return [{"name": name, "state": of} for name, of in state.items()]


def test_it_is_offered_where_it_is_permitted(companies: Companies) -> None:
    assert "live" in names()
    (live,) = (pack for pack in catalogue()["packs"] if pack["name"] == "live")
    assert live["defaults"]["right"] == "none"
    assert [pack["name"] for pack in catalogue()["packs"] if pack["real_time"]] == ["live"]


def test_the_button_starts_what_can_be_played_at_once(companies: Companies) -> None:
    script, model = (
        live_choice(states(trained=state, auditor="ready")) for state in ("not loaded", "ready")
    )
    assert script is not None
    assert script["pack"] == "live"
    assert (script["left"], script["right"]) == ("auditor", "none")
    assert model == {**script, "left": "trained"}


def test_elsewhere_it_is_neither_offered_nor_played(client: httpx.Client) -> None:
    assert "live" not in names()
    assert live_choice(states(auditor="ready")) is None
    assert client.get("/api/catalogue").json()["live"] is None
    for ask in (client.get, client.post):
        answer = ask("/api/episode", params={**LIVE, "policy": "heuristic"})
        assert answer.status_code == 400
        assert "chaosops serve --live" in answer.json()["detail"]


def test_an_episode_is_shown_and_its_company_ends(
    client: httpx.Client, companies: Companies
) -> None:
    query = {**LIVE, "policy": "oracle"}
    first, start, *frames, file = messages(client.post("/api/episode", params=query))
    assert (first["kind"], start["kind"], file["kind"]) == ("starting", "start", "case_file")
    assert frames[-1]["outcome"]["resolved"]
    assert any("requests of users failed" in line for line in frames[-1]["outcome"]["explanation"])
    assert companies.closed == [1]
    assert not real_time._playing


def test_a_link_or_a_picture_of_another_site_starts_nothing(
    client: httpx.Client, companies: Companies
) -> None:
    query = {**LIVE, "policy": "oracle"}
    answer = client.get("/api/episode", params=query)
    assert answer.status_code == 400
    assert "send the same query as POST" in answer.json()["detail"]
    elsewhere = {"Origin": "https://elsewhere.example"}
    assert client.post("/api/episode", params=query, headers=elsewhere).status_code == 403
    assert companies.started == []


def test_a_second_visitor_is_told_to_wait(client: httpx.Client, companies: Companies) -> None:
    companies.doors.clear()
    query = {**LIVE, "policy": "oracle"}
    with client.stream("POST", "/api/episode", params=query) as first:
        lines = first.iter_lines()
        assert json.loads(next(lines)) == {"kind": "starting"}
        answer = client.post("/api/episode", params=query)
        assert answer.status_code == 400
        said = "an episode of pack live is being played; wait until it is over"
        assert answer.json() == {"detail": said}
        companies.doors.set()
        assert json.loads([*lines][-1])["kind"] == "case_file"
    until(lambda: not real_time._playing)
    assert messages(client.post("/api/episode", params=query))[-1]["kind"] == "case_file"
    assert companies.closed == [1, 1]


@pytest.mark.parametrize("is_started", [False, True], ids=["in its start", "in its history"])
def test_who_leaves_while_a_company_starts_leaves_none_behind(
    client: httpx.Client,
    companies: Companies,
    monkeypatch: pytest.MonkeyPatch,
    is_started: bool,
) -> None:
    began = Event()

    def history(seconds: float) -> None:
        """A company that was closed answers no more."""
        began.set()
        until(lambda: companies.started[0].closed)
        raise BadInput("the company has ended")

    if is_started:
        monkeypatch.setattr("chaosops.packs.live.runs.LiveRun.open", lambda run: history(0))
    else:
        companies.doors.clear()
    query = {**LIVE, "policy": "oracle"}
    with client.stream("POST", "/api/episode", params=query) as left:
        next(left.iter_lines())
        if is_started:
            assert began.wait(60)
    if not is_started:
        # Another company must not start beside one that nobody watches.
        assert client.post("/api/episode", params=query).status_code == 400
        companies.doors.set()
    until(lambda: not real_time._playing)
    assert companies.closed == [1]


def test_who_leaves_a_run_ends_its_company(
    client: httpx.Client, companies: Companies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PACK, "pace", SLOWLY)
    query = {**LIVE, "policy": "random"}
    with client.stream("POST", "/api/episode", params=query) as left:
        lines = left.iter_lines()
        kinds = [json.loads(next(lines))["kind"] for _ in range(4)]
        assert kinds == ["starting", "start", "frame", "frame"]
    until(lambda: not real_time._playing)
    assert companies.closed == [1]


def test_openenv_refuses_it(companies: Companies) -> None:
    with pytest.raises(BadInput, match="not over OpenEnv"):
        chosen_scenario(read_options({"pack": "live"}))
