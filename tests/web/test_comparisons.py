"""What the page of results may ask for: differences, and the episodes of a cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from chaosops.cli import main
from chaosops.web.routes import Settings
from tests.web.conftest import messages, visiting
from tests.web.reports import SEEDS, evaluate_splits

if TYPE_CHECKING:
    import httpx

PAIR = {"of": "auditor", "against": "heuristic"}
CELL = {**PAIR, "pack": "arena", "version": "2", "split": "test", "tier": "hard"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("results")
    evaluate_splits(place, "test", "ood_names")
    return place


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    with visiting(Settings(results=[folder])) as one:
        yield one


def test_a_row_for_each_split_unseen_companies_first(client: httpx.Client) -> None:
    found = client.get("/api/results/differences", params=PAIR).json()
    assert [(row["split"], row["name"]) for row in found["rows"]] == [
        ("test", "New companies"),
        ("ood_names", "New names"),
    ]
    assert [metric["key"] for metric in found["metrics"]] == [
        "solved",
        "rogue_caught",
        "false_flag_rate",
        "mean_reward",
    ]
    (hard,) = {row["tiers"]["hard"]["pairs"] for row in found["rows"]}
    assert hard == SEEDS


def test_rows_and_tiers_can_be_chosen(client: httpx.Client) -> None:
    chosen = {**PAIR, "pack": "arena", "tiers": "hard"}
    found = client.get("/api/results/differences", params=chosen).json()
    assert [set(row["tiers"]) for row in found["rows"]] == [{"hard"}, {"hard"}]


def test_the_episodes_of_a_cell_add_up_to_it(client: httpx.Client) -> None:
    row = client.get("/api/results/differences", params=PAIR).json()["rows"][0]
    where = {name: row[name] for name in ("pack", "version", "split")}
    address = f"/api/results/{row['key']}/episodes"
    found = client.get(address, params={**PAIR, **where, "tier": "hard"}).json()
    assert found["plays"] == "arena"
    episodes = found["episodes"]
    assert [one["seed"] for one in episodes] == list(range(SEEDS))
    hard = row["tiers"]["hard"]
    for side in PAIR:
        solved = sum(one[side]["solved"] for one in episodes) / SEEDS
        assert hard["solved"][side] == pytest.approx(solved, abs=1e-6)
        caught = [one[side]["caught"] for one in episodes if one[side]["caught"] is not None]
        assert hard["rogue_caught"][side] == pytest.approx(sum(caught) / len(caught), abs=1e-6)


def test_no_answer_names_a_culprit_or_a_cause(client: httpx.Client, folder: Path) -> None:
    """Who looks at results may still want to play one of the incidents."""
    lines = json.loads((folder / "arena_test/results.json").read_text())["episodes"]
    names = {line["rogue"] for line in lines} | {line["cause"] for line in lines} - {None}
    row = client.get("/api/results/differences", params=PAIR).json()["rows"][0]
    where = {name: row[name] for name in ("pack", "version", "split")}
    for path, query in (
        ("/api/results", {}),
        ("/api/results/differences", PAIR),
        (f"/api/results/{row['key']}/episodes", {**PAIR, **where, "tier": "hard"}),
    ):
        words = set(_words(client.get(path, params=query).json()))
        assert len(words) > 10
        assert words.isdisjoint(names)


def test_a_written_incident_has_a_code_and_is_replayed_by_it(tmp_path: Path) -> None:
    """The name of a written failure may name the rogue."""
    words = "eval --matrix published --seeds 1 --tiers hard --policies heuristic,oracle"
    assert main([*words.split(), "--no-figures", "--out", str(tmp_path / "classic")]) == 0
    lines = json.loads((tmp_path / "classic/results.json").read_text())["episodes"]
    pair = {"of": "oracle", "against": "heuristic"}
    with visiting(Settings(results=[tmp_path])) as client:
        (row,) = client.get("/api/results/differences", params=pair).json()["rows"]
        where = {name: row[name] for name in ("pack", "version", "split")}
        answer = client.get(
            f"/api/results/{row['key']}/episodes", params={**pair, **where, "tier": "hard"}
        )
        assert not [line for line in lines if line["cause"] in answer.text]
        for one in answer.json()["episodes"]:
            incident = {"pack": "classic", "scenario": one["scenario"], "tier": "hard"}
            query = {**incident, "seed": str(one["seed"]), "policy": "oracle"}
            told = messages(client.get("/api/episode", params={**query, "recorded": row["key"]}))
            assert told[-2]["reward"] == pytest.approx(one["of"]["reward"])


def _words(found: Any) -> Iterator[str]:
    """Every text in an answer."""
    if isinstance(found, dict):
        for name, value in found.items():
            yield name
            yield from _words(value)
    elif isinstance(found, list):
        for value in found:
            yield from _words(value)
    elif isinstance(found, str):
        yield from (found, *found.split())


@pytest.mark.parametrize("policy", ["auditor", "random"])
def test_a_recorded_episode_is_streamed_as_it_was(
    client: httpx.Client, folder: Path, policy: str
) -> None:
    content = json.loads((folder / "arena_ood_names/results.json").read_text())
    key = client.get("/api/results").json()["evaluations"][1]["key"]
    for stored in [one for one in content["episodes"] if one["policy"] == policy][::7]:
        tier, seed = stored["scenario"]["tier"], str(stored["scenario"]["seed"])
        query = {"pack": "arena", "split": "ood_names", "tier": tier, "seed": seed}
        told = messages(
            client.get("/api/episode", params={**query, "policy": policy, "recorded": key})
        )
        start, *frames, last = told
        assert start["recorded"]["commit"] == content["manifest"]["commit"]
        assert start["status"].startswith("scripted; recorded at commit ")
        assert [one["kind"] for one in frames] == ["frame"] * (stored["steps"] + 1)
        assert frames[-1]["reward"] == pytest.approx(stored["reward"])
        assert frames[-1]["outcome"]["rogue_caught"] == stored["rogue_caught"]
        assert last["kind"] == "case_file"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"recorded": "000000000000"}, "no such evaluation or training run"),
        ({"policy": "trained"}, "this evaluation has no such episode"),
        ({"seed": "1000"}, "this evaluation has no such episode"),
        ({"pack": "classic"}, "this evaluation has no such episode"),
    ],
)
def test_what_was_not_recorded_is_refused(
    client: httpx.Client, change: dict[str, str], words: str
) -> None:
    key = client.get("/api/results").json()["evaluations"][0]["key"]
    query = {"pack": "arena", "split": "test", "tier": "hard", "seed": "3", "policy": "auditor"}
    assert client.get("/api/episode", params={**query, "recorded": key}).status_code == 200
    answer = client.get("/api/episode", params={**query, "recorded": key, **change})
    assert answer.status_code == 400
    assert words in answer.json()["detail"]


@pytest.mark.parametrize(
    ("path", "query", "words"),
    [
        ("differences", {"of": "auditor", "against": "nobody"}, "unknown policy"),
        ("differences", {"of": "auditor", "against": "auditor"}, "cannot be compared with itself"),
        ("000000000000/episodes", PAIR, "no such evaluation"),
        ("KEY/episodes", {**PAIR, "split": "ood_scale"}, "no pack is named; allowed: arena"),
        ("differences", {"of": "auditor"}, "no policy is named; allowed: "),
        (
            "KEY/episodes",
            {**CELL, "split": "ood_scale"},
            "unknown split 'ood_scale'; allowed: test",
        ),
        ("KEY/episodes", {**CELL, "tier": "hrad"}, "unknown tier 'hrad'; did you mean 'hard'?"),
        ("differences", {**PAIR, "pack": "zz"}, "unknown pack 'zz'; allowed: arena"),
        ("differences", {**PAIR, "tiers": "hard,zz"}, "unknown tier 'zz'; allowed: easy, medium"),
        ("differences", {**PAIR, "pakc": "arena"}, "unknown choice 'pakc'; did you mean 'pack'?"),
        ("", {"pack": "zz"}, "all results have no choices, got pack; choose with"),
    ],
)
def test_a_bad_question_gets_a_line(
    client: httpx.Client, path: str, query: dict[str, str], words: str
) -> None:
    (one, _) = client.get("/api/results").json()["evaluations"]
    address = f"/api/results/{path.replace('KEY', one['key'])}".rstrip("/")
    answer = client.get(address, params=query)
    assert answer.status_code == 400
    assert words in answer.json()["detail"]
