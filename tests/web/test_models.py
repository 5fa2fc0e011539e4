"""Models behind the page: loaded once, asked one after the other, never in anybody's way."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock, current_thread
from typing import Any

import httpx
import pytest

from chaosops.access.limits import Limits, OverQuota
from chaosops.core.actions import Communicate, Noop
from chaosops.core.decision import Decision
from chaosops.policies.protocol import DecisionRequest
from chaosops.web import episodes, policy_cache
from chaosops.web.episode_pool import EpisodePool
from chaosops.web.policy_cache import OfferedPolicy
from chaosops.web.routes import Settings
from tests.web.conftest import messages, serving, visiting

MODEL = OfferedPolicy("trained", "stands for a model", is_model=True)
MISSING = OfferedPolicy("trained", "", "local:smollm2+adapter=/nowhere", is_model=True)


class SlowModel:
    """Counts who asks it at the same time; waits where it is told to."""

    name = "slow"
    sees_truth = False

    def __init__(self) -> None:
        self.free = Event()
        self.free.set()
        self.asked = 0
        self.most = 0
        self.threads: set[str] = set()
        self._inside = 0
        self._lock = Lock()

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        with self._lock:
            self._inside += 1
            self.most = max(self.most, self._inside)
            self.asked += 1
        self.threads.add(current_thread().name)
        self.free.wait(30)
        time.sleep(0.002)
        with self._lock:
            self._inside -= 1
        return [Decision(Noop()) for _ in requests]

    def status(self) -> Mapping[str, Any]:
        return {"kind": "model", "model": "slow", "adapter": "none sha256:0"}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> SlowModel:
    slow = SlowModel()
    loads: list[str] = []

    def load(name: str) -> SlowModel:
        loads.append(name)
        assert len(loads) == 1, "loaded twice"
        time.sleep(0.05)
        return slow

    monkeypatch.setattr(policy_cache, "load_policy", load)
    return slow


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


SHARED = Limits(model_episodes_per_client=6)


def test_many_visitors_share_one_model(model: SlowModel) -> None:
    with (
        visiting(Settings(policies=[MODEL], limits=SHARED, results=())) as client,
        ThreadPoolExecutor(6) as visitors,
    ):
        jobs = [
            visitors.submit(
                client.get, "/api/episode", params={"policy": "trained", "seed": str(i)}
            )
            for i in range(6)
        ]
        told = [messages(job.result()) for job in jobs]
    assert model.most == 1
    assert len(model.threads) == 1
    assert model.asked == 6 * 25
    # Who comes after it was loaded does not wait for it.
    assert {"kind": "loading"} in [lines[0] for lines in told]
    for lines in told:
        start = next(line for line in lines if line["kind"] == "start")
        assert start["status"] == "model slow + none sha256:0"
        assert lines[-2]["outcome"]["steps"] == 25


def test_while_a_model_thinks_visitors_are_told_who_and_how_many_wait(
    model: SlowModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episodes, "THINKING_S", 0.05)
    model.free.clear()
    params = {"policy": "trained"}

    def until_thinking(response: httpx.Response) -> Iterator[dict[str, Any]]:
        told = map(json.loads, response.iter_lines())
        return (line for line in told if line["kind"] == "thinking")

    with (
        visiting(Settings(policies=[MODEL], results=())) as client,
        client.stream("GET", "/api/episode", params=params) as first,
    ):
        thinking = until_thinking(first)
        said = next(thinking)
        assert (said["role"], said["ahead"], said["tokens"]) == ("sre", 0, 0)
        assert said["seconds"] >= 0
        with client.stream("GET", "/api/episode", params=params) as second:
            assert next(until_thinking(second))["ahead"] == 1
        model.free.set()


def test_a_thinking_model_keeps_nobody_else_waiting(model: SlowModel) -> None:
    model.free.clear()
    with (
        visiting(Settings(policies=[MODEL], results=())) as client,
        client.stream("GET", "/api/episode", params={"policy": "trained"}) as response,
    ):
        lines = response.iter_lines()
        while json.loads(next(lines))["kind"] != "frame":
            pass
        until(lambda: model.asked == 1)
        started = time.monotonic()
        assert client.get("/").status_code == 200
        assert client.get("/api/catalogue").status_code == 200
        assert time.monotonic() - started < 20  # the model thinks for 30 s
        model.free.set()
        assert json.loads(list(lines)[-2])["outcome"]


def test_the_cap_answers_and_who_leaves_makes_room(model: SlowModel) -> None:
    model.free.clear()
    with visiting(Settings(policies=[MODEL], limits=Limits(episodes=1), results=())) as client:
        query = {"policy": "trained"}
        with client.stream("GET", "/api/episode", params=query):
            until(lambda: model.asked == 1)
            full = client.get("/api/episode", params=query)
            assert full.status_code == 429
            assert full.headers["Retry-After"] == "5"
            assert "all 1 episodes are taken" in full.json()["detail"]
        # The visitor has left, but the model still computes the turn: the slot is taken.
        time.sleep(0.2)
        assert client.get("/api/episode", params=query).status_code == 429
        model.free.set()
        until(lambda: client.get("/api/episode", params=query).status_code == 200)
        assert model.asked == 1 + 25, "an episode that nobody watches went on"


def test_who_leaves_the_queue_of_a_model_makes_room_at_once(model: SlowModel) -> None:
    limits = Limits(episodes=2, model_episodes=2)
    with (
        serving(Settings(policies=[MODEL], limits=limits, results=())) as address,
        httpx.Client(base_url=address, timeout=60) as client,
        httpx.Client(base_url=address, timeout=60) as other,
    ):
        query = {"policy": "trained"}
        client.get("/api/episode", params=query)  # now it is loaded
        model.free.clear()
        before = model.asked
        with client.stream("GET", "/api/episode", params=query):
            until(lambda: model.asked == before + 1)
            for _ in range(4):  # each waits behind the first, and leaves
                until(lambda: queues_and_leaves(other))
        model.free.set()


def queues_and_leaves(client: httpx.Client) -> bool:
    """False while the place of the one before is still taken."""
    with client.stream("GET", "/api/episode", params={"policy": "trained"}) as queued:
        if queued.status_code != 200:
            return False
        lines = queued.iter_lines()
        while json.loads(next(lines))["kind"] != "frame":
            pass
        return True


def test_who_waits_for_a_model_never_takes_all_places() -> None:
    pool = EpisodePool(Limits(episodes=3, model_episodes=1))
    first = pool.take("me", is_model=True)
    with pytest.raises(OverQuota, match=r"--max-model-episodes$"):
        pool.take("you", is_model=True)
    assert pool.episodes.taken == 1, "a refusal takes no place"
    pool.take("you", is_model=False)
    first.leave()
    pool.take("you", is_model=True)


def test_who_leaves_while_a_model_is_loaded_makes_room_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, loaded = Event(), Event()
    loads: list[str] = []

    def load(name: str) -> SlowModel:
        loads.append(name)
        asked.set()
        loaded.wait(30)
        return SlowModel()

    monkeypatch.setattr(policy_cache, "load_policy", load)
    with visiting(Settings(policies=[MODEL], limits=Limits(episodes=1), results=())) as client:
        query = {"policy": "trained"}

        def is_let_in() -> bool:
            with client.stream("GET", "/api/episode", params=query) as response:
                return response.status_code == 200

        assert is_let_in()
        asked.wait(20)
        until(is_let_in)
        until(is_let_in)
        loaded.set()
        until(lambda: client.get("/api/episode", params=query).status_code == 200)
    assert len(loads) == 1, "what nobody waits for any more is not loaded again"


def test_what_cannot_be_loaded_is_unavailable_and_has_no_number(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with visiting(Settings(policies=[MISSING], results=())) as client:
        for _ in range(2):  # the cure may come at any time: it is tried again
            told = messages(client.get("/api/episode", params={"policy": "trained"}))
            assert [message["kind"] for message in told] == ["loading", "unavailable"]
            assert "no adapter: adapter_model.safetensors does not exist" in told[1]["why"]
        state = client.get("/api/catalogue").json()["policies"][0]
        assert state["state"] == "unavailable"
        assert "/nowhere" not in str([told, state]), "no path for visitors"
        assert "no adapter: /nowhere/" in caplog.text, "but for the operator"
        told = messages(client.post("/api/seats", params={"partners": "trained"}))
        assert told[-1]["kind"] == "unavailable"


def test_a_loader_that_breaks_is_unavailable_too(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def load(name: str) -> SlowModel:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(policy_cache, "load_policy", load)
    with visiting(Settings(policies=[MODEL], results=())) as client:
        told = messages(client.get("/api/episode", params={"policy": "trained"}))
    assert told[-1]["kind"] == "unavailable"
    assert "RuntimeError" in told[-1]["why"]
    assert "out of memory" in caplog.text


class Broken(SlowModel):
    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        raise ZeroDivisionError


class Talking(SlowModel):
    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        return [
            Decision(Communicate("<img src=x onerror=alert(1)>\u202e\x1b[31m")) for _ in requests
        ]


def test_a_model_that_breaks_stops_its_episode_only(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(policy_cache, "load_policy", lambda name: Broken())
    with visiting(Settings(policies=[MODEL], results=())) as client:
        told = messages(client.get("/api/episode", params={"policy": "trained"}))
        assert told[-1]["kind"] == "stopped"
        assert "ZeroDivisionError" in told[-1]["why"]
        assert client.get("/").status_code == 200


def test_what_a_model_writes_cannot_steer_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_cache, "load_policy", lambda name: Talking())
    with visiting(Settings(policies=[MODEL], results=())) as client:
        text = client.get("/api/episode", params={"policy": "trained"}).text
        seen = client.post("/api/seats", params={"partners": "trained", "role": "dev"}).text
    for told in (text, seen):
        assert "onerror" in told
        assert "\\u202e" not in told
        assert "\\u001b" not in told


def test_a_real_model_plays_and_stops_with_its_visitor() -> None:
    entry = OfferedPolicy("local:smollm2", "untrained", is_model=True)
    with visiting(Settings(policies=[entry], limits=Limits(episodes=1), results=())) as client:
        query = {"policy": "local:smollm2"}
        with client.stream("GET", "/api/episode", params=query) as response:
            seen = []
            for text in response.iter_lines():
                seen.append(json.loads(text))
                if seen[-1].get("step") == 2:
                    break
        kinds = [message["kind"] for message in seen if message["kind"] != "thinking"]
        assert kinds == ["loading", "start", *["frame"] * 3]
        assert seen[1]["status"].startswith("model smollm2")
        assert "sha256:" in seen[1]["details"]["revision"]
        assert set(seen[-1]["turn"]["suspicion"]) == set(seen[1]["agents"])

        def has_room() -> bool:
            with client.stream("GET", "/api/episode", params=query) as response:
                return response.status_code == 200

        until(has_room)
