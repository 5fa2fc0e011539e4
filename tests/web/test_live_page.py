"""The page offers a pack in real time only where the server permits it, one episode at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from chaosops.core.errors import BadInput
from chaosops.packs.live import PACK
from chaosops.server.options import chosen_scenario, read_options
from chaosops.web import episodes
from chaosops.web.choices import catalogue
from chaosops.world import real_time
from tests.fake_platform import AT_ONCE, FakePlatform

if TYPE_CHECKING:
    import httpx

Ask = Callable[..., list[dict[str, Any]]]
LIVE = {"pack": "live", "tier": "easy", "seed": "2"}


@pytest.fixture
def companies(monkeypatch: pytest.MonkeyPatch) -> list[FakePlatform]:
    started: list[FakePlatform] = []

    def start(plan: Any) -> FakePlatform:
        started.append(FakePlatform(plan))
        return started[-1]

    monkeypatch.setattr(PACK, "start", start)
    monkeypatch.setattr(PACK, "pace", AT_ONCE)
    monkeypatch.setattr(real_time, "_permitted", True)
    return started


def names() -> list[str]:
    return [pack["name"] for pack in catalogue()["packs"]]


def test_it_is_offered_where_it_is_permitted(companies: list[FakePlatform]) -> None:
    assert "live" in names()
    (live,) = (pack for pack in catalogue()["packs"] if pack["name"] == "live")
    assert live["defaults"]["right"] == "none"


def test_elsewhere_it_is_neither_offered_nor_played(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real_time, "_permitted", False)
    assert "live" not in names()
    shown = client.get("/api/episode", params={**LIVE, "policy": "heuristic"}).text
    assert "chaosops serve --live" in shown


def test_an_episode_is_shown_and_its_company_ends(
    client: httpx.Client, companies: list[FakePlatform]
) -> None:
    shown = client.get("/api/episode", params={**LIVE, "policy": "oracle"}).text
    assert '"loading"' in shown.splitlines()[0]
    assert "requests of users failed" in shown
    assert [company.closed for company in companies] == [1]
    assert not episodes._playing


def test_a_second_visitor_is_told_to_wait(
    client: httpx.Client, companies: list[FakePlatform], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episodes, "_playing", {"live"})
    shown = client.get("/api/episode", params={**LIVE, "policy": "oracle"}).text
    assert "wait until it is over" in shown
    assert companies == []


def test_openenv_refuses_it(companies: list[FakePlatform]) -> None:
    with pytest.raises(BadInput, match="not over OpenEnv"):
        chosen_scenario(read_options({"pack": "live"}))
