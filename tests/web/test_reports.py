"""The pages of figures show what lies in folders, and say so where nothing does."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import chaosops
from chaosops.evaluation.metrics import METRICS, cells
from chaosops.web import evaluations, report_cache
from chaosops.web.evaluations import Read
from chaosops.web.report_cache import ReportCache
from chaosops.web.routes import Settings
from chaosops.web.training_runs import POINTS, by_stage
from tests.web.conftest import visiting

if TYPE_CHECKING:
    import httpx


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from chaosops.cli import main

    place = tmp_path_factory.mktemp("results")
    words = "eval --pack arena --split test --seeds 3 --tiers easy,hard --policies random,oracle"
    assert main([*words.split(), "--out", str(place / "arena")]) == 0
    run = place / "run"
    run.mkdir()
    (run / "recipe.toml").write_text("steps = 600\n")
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in metrics()))
    return place


def reports(results: Sequence[Path] | None, kind: str = "evaluations") -> list[dict[str, Any]]:
    document = asyncio.run(getattr(ReportCache(results), kind).document())
    shown: list[dict[str, Any]] = json.loads(document.body)[kind]
    return shown


def metrics() -> Iterator[dict[str, Any]]:
    for step in range(1, 601):
        regret = {"arena oversight": 600.0 / step, "classic sre": 3.0}
        yield {"step": step, "loss": 1 / step, "regret": regret, "tiers": {"hard": 1}, "states": 9}
        if step % 300 == 0:
            easy = {"mean_reward": float(step), "rogue_caught": None}
            yield {"step": step, "kl_from_start": 0.5, "validation": {"easy": easy}}


@pytest.fixture(scope="module")
def found(folder: Path) -> Iterator[httpx.Client]:
    with visiting(Settings(results=[folder])) as client:
        yield client


@pytest.mark.parametrize(
    ("name", "place"), [("summary.json", (0, "mean_reward")), ("summary.json", (1, "reward_ci95"))]
)
def test_a_summary_that_contradicts_its_episodes_is_not_shown(
    folder: Path, tmp_path: Path, name: str, place: tuple[int, str]
) -> None:
    copy = Path(shutil.copytree(folder / "arena", tmp_path / "arena"))
    rows = json.loads((copy / name).read_text())
    rows[place[0]][place[1]] = 999.0
    (copy / name).write_text(json.dumps(rows))
    (shown,) = reports([tmp_path])
    assert f"{name} was changed: {place[1]} of random" in shown["error"]


def test_a_monitor_figure_that_contradicts_its_episodes_is_not_shown(
    folder: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(folder / "arena", tmp_path / "arena"))
    content = json.loads((copy / "monitor.json").read_text())
    content["summary"][1]["rogue_caught"]["value"] = 1.0
    (copy / "monitor.json").write_text(json.dumps(content))
    (shown,) = reports([tmp_path])
    assert "monitor.json was changed: rogue_caught of random, hard" in shown["error"]


def test_an_evaluation_is_shown_as_it_was_written(found: httpx.Client, folder: Path) -> None:
    (shown,) = found.get("/api/results").json()["evaluations"]
    summary = json.loads((folder / "arena/summary.json").read_text())
    assert shown["title"] == "arena"
    assert shown["summary"] == summary
    assert shown["table"]["rows"] == [cells(row, METRICS) for row in summary]
    assert shown["oversight"]["rows"][0][:2] == ["random", "easy"]
    manifest = shown["manifest"]
    assert "--seeds 3" in manifest["command"]
    assert manifest["seeds"] == "0 to 2"
    assert manifest["policies"]["oracle"] == "scripted, knows the truth"
    assert str(folder) not in json.dumps({**shown, "manifest": {**manifest, "command": ""}})


def test_what_ships_is_shown_the_unseen_companies_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(evaluations.VARIABLE, raising=False)
    shown = reports(None)
    titles = [one["title"].rpartition("/")[2] for one in shown]
    assert "classic_published" in titles
    ranks = [0 if title.startswith("arena_test") else 1 for title in titles]
    assert ranks == sorted(ranks)
    for one in shown:
        assert "error" not in one
        assert "sha256" in one["manifest"]["policies"]["trained"]
        assert ["trained", "hard"] in [row[:2] for row in one["table"]["rows"]]


def test_figures_are_served_by_their_names_alone(found: httpx.Client) -> None:
    (shown,) = found.get("/api/results").json()["evaluations"]
    names = [figure["name"] for figure in shown["figures"]]
    assert {"comparison_curve.png", "roc.png"} <= set(names)
    picture = found.get(f"/api/figures/{shown['key']}/comparison_curve.png")
    assert picture.headers["Content-Type"] == "image/png"
    for path in (
        f"/api/figures/{shown['key']}/results.json",
        f"/api/figures/{shown['key']}/..%2Fsecret.png",
        "/api/figures/000000000000/roc.png",
    ):
        assert found.get(path).status_code in (400, 404)


def test_a_run_becomes_curves(found: httpx.Client) -> None:
    (run,) = found.get("/api/training").json()["runs"]
    assert run["updates"] == 600
    assert run["recipe"] == "steps = 600\n"
    charts = {chart["name"]: chart["curves"] for chart in run["training"]}
    assert set(charts) == {"loss", "regret"}, "what never changes is not a curve"
    assert len(charts["regret"]["arena oversight"]) <= POINTS
    first = charts["loss"]["loss"][0]
    assert first == [2.0, pytest.approx((1 + 1 / 2 + 1 / 3) / 3)]
    validation = {chart["name"]: chart["curves"] for chart in run["validation"]}
    assert validation == {
        "mean_reward": {"easy": [[300, 300.0], [600, 600.0]]},
        "kl_from_start": {"kl_from_start": [[300, 0.5], [600, 0.5]]},
    }


def test_runs_stand_in_the_order_in_which_they_were_made() -> None:
    """Whatever lies beside them: a run without a recipe, one that cannot be read."""

    def run(name: str, start: str = "") -> Read:
        return Read({"title": name, "recipe": f'name = "{name}"\nstart = "{start}"\n'})

    reads = [
        Read({"title": "broken", "error": "cannot be read"}),
        run("fourth", "runs/third/adapter"),
        run("third", "runs/second-2/adapter"),
        Read({"title": "bare", "recipe": None}),
        Read({"title": "odd", "recipe": "= 3"}),
        run("second", "runs/first-0/adapter"),
        run("first"),
    ]
    titles = [read.report["title"] for read in by_stage(reads)]
    assert titles == ["bare", "odd", "first", "second", "third", "fourth", "broken"]


def test_nothing_is_nothing(client: httpx.Client) -> None:
    assert client.get("/api/results").json()["evaluations"] == []
    assert client.get("/api/training").json()["runs"] == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("results.json", "{", ""),
        (
            "results.json",
            '{"manifest": {"policies": {}}, "episodes": []}',
            "No such file or directory: summary.json",
        ),
        ("metrics.jsonl", "", "metrics.jsonl is empty"),
        ("metrics.jsonl", "[1]\n", ""),
    ],
)
def test_a_broken_file_says_so_but_not_where_it_lies(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    (tmp_path / name).write_text(text)
    (shown,) = reports([tmp_path], "evaluations" if name == "results.json" else "runs")
    assert "cannot be read" in shown["error"]
    assert words in shown["error"]
    assert str(tmp_path) not in shown["error"]


def test_evaluations_are_read_soon_after_the_first_page(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    read: list[str] = []
    parse = evaluations.read_evaluation

    def noting(one: evaluations.Folder) -> evaluations.Read:
        read.append(one.title)
        return parse(one)

    monkeypatch.setattr(evaluations, "read_evaluation", noting)
    monkeypatch.setattr(report_cache, "WARM_S", 0.1)
    with visiting(Settings(results=[folder])) as client:
        assert client.get("/guide").status_code == 200
        until = time.monotonic() + 30
        while not read and time.monotonic() < until:
            time.sleep(0.05)
        assert read == ["arena"]
        client.get("/api/results")
        assert read == ["arena"]


def test_folders_are_named_by_the_operator(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv(evaluations.VARIABLE, f"{folder}:{folder / 'missing'}")
    assert folder in evaluations.results_folders()
    assert "arena" in [one["title"] for one in reports(None)]


def test_files_are_read_once_until_they_change(
    monkeypatch: pytest.MonkeyPatch, folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    read: list[str] = []
    parse = evaluations.read_evaluation

    def counting(one: evaluations.Folder) -> evaluations.Read:
        read.append(one.title)
        return parse(one)

    monkeypatch.setattr(evaluations, "read_evaluation", counting)
    with (
        visiting(Settings(results=[tmp_path / "copy"])) as client,
        ThreadPoolExecutor(8) as visitors,
    ):
        told = list(visitors.map(lambda _: client.get("/api/results"), range(24)))
        assert len({answer.content for answer in told}) == 1
        assert len(read) == 1
        tag = told[0].headers["ETag"]
        same = client.get("/api/results", headers={"If-None-Match": tag})
        assert (same.status_code, same.content) == (304, b"")
        time.sleep(1.1)  # looked at again, and unchanged
        assert client.get("/api/results").headers["ETag"] == tag
        assert len(read) == 1
        summary = tmp_path / "copy/arena/summary.json"
        rows = json.loads(summary.read_text())
        summary.write_text(json.dumps(rows[:1]))
        time.sleep(1.1)
        changed = client.get("/api/results", headers={"If-None-Match": tag})
        assert changed.status_code == 200
        assert "not of these episodes" in changed.json()["evaluations"][0]["error"]
        assert len(read) == 2
        shutil.rmtree(tmp_path / "copy/arena")
        time.sleep(1.1)
        assert client.get("/api/results").json()["evaluations"] == []


def test_the_shipped_evaluation_says_why_two_scripts_act_alike() -> None:
    shipped = Path(chaosops.__file__).parent / "trained/evaluations"
    told = [words for one in reports([shipped]) for words in one.get("warnings", ())]
    alike = [words for words in told if "acted identically" in words]
    assert alike
    for words in alike:
        assert words.startswith("heuristic and auditor acted identically in every episode; this is")
