"""A training run as a story, for the page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import chaosops
from chaosops.env import Env
from chaosops.training.recipe_files import load_recipe
from chaosops.training.validation import validation_scenarios
from chaosops.web.evaluations import Folder
from chaosops.web.routes import Settings
from chaosops.web.training_runs import read_run
from tests.web.conftest import messages, visiting
from tests.web.reports import pretend_run

if TYPE_CHECKING:
    import httpx


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    pretend_run(place / "run")
    return place


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    with visiting(Settings(results=[folder])) as one:
        yield one


def test_a_run_has_its_baselines_and_its_story(client: httpx.Client, folder: Path) -> None:
    (run,) = client.get("/api/training").json()["runs"]
    kept = json.loads((folder / "run/baselines.json").read_text())
    assert run["baselines"] == kept
    steps = [update["step"] for update in run["story"]["updates"]]
    assert len(steps) == 4
    assert (steps[0], steps[-1]) == (0, 500 * (len(kept) - 1))
    scenario = run["story"]["scenario"]
    for update in run["story"]["updates"]:
        asked = {**scenario, "policy": update["policy"], "recorded": run["key"]}
        start, *frames, last = messages(client.get("/api/episode", params=asked))
        assert start["status"] == f"model learner after {update['step']} updates; recorded"
        assert frames[-1]["reward"] == pytest.approx(update["reward"])
        assert frames[-1]["outcome"]["resolved"] == update["solved"]
        assert last["kind"] == "case_file"


def test_an_update_that_is_not_told_is_refused(client: httpx.Client) -> None:
    (run,) = client.get("/api/training").json()["runs"]
    query = {"policy": "update 7", "recorded": run["key"]}
    answer = client.get("/api/episode", params=query)
    assert answer.status_code == 400
    assert "tells of no such update" in answer.json()["detail"]


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder / "run", tmp_path / "run"))


def runs(place: Path) -> list[dict[str, Any]]:
    with visiting(Settings(results=[place])) as client:
        found: list[dict[str, Any]] = client.get("/api/training").json()["runs"]
        return found


def test_broken_baselines_are_named(copy: Path) -> None:
    (copy / "baselines.json").write_text("[")
    (run,) = runs(copy.parent)
    assert "cannot be read" in run["error"]
    assert "baselines.json" in run["error"]


def test_without_a_story_that_can_be_played_the_curves_are_shown(copy: Path) -> None:
    story = (copy / "story.jsonl").read_text()
    reward = json.loads(story.splitlines()[0])["record"]["reward"]
    for text, words in (
        ("{}\n", "story.jsonl:1 is not a row of a story"),
        (story.replace(f'"reward": {reward}', '"reward": 7.0'), "does not reproduce the recording"),
    ):
        assert text != story
        (copy / "story.jsonl").write_text(text)
        (run,) = runs(copy.parent)
        assert words in run["story"]["error"]
        assert str(copy) not in run["story"]["error"]
        assert run["validation"]


SHIPPED = Path(chaosops.__file__).parent / "trained/training"


def test_shares_have_their_denominators() -> None:
    """The folder counts the companies that its recipe opens."""
    for folder in sorted(SHIPPED.iterdir()):
        scenarios = validation_scenarios(load_recipe(folder / "recipe.toml"))
        counts: dict[str, dict[str, int]] = {}
        for scenario in scenarios:
            reserve = "" if scenario.split == scenarios[0].split else f"{scenario.split} "
            numbers = counts.setdefault(f"{reserve}{scenario.tier}", {"all": 0, "with_rogue": 0})
            numbers["all"] += 1
            numbers["with_rogue"] += Env(scenario).rogue is not None
        report = read_run(Folder(folder.name, folder.name, folder)).report
        assert report["companies"] == counts
        assert 0 < counts["hard"]["with_rogue"] < counts["hard"]["all"]


def test_a_run_without_counts_has_no_denominators(copy: Path) -> None:
    (copy / "companies.json").unlink()
    (run,) = runs(copy.parent)
    assert run["companies"] == {}
    assert run["validation"]


def test_counts_of_another_run_are_named(copy: Path) -> None:
    path = copy / "companies.json"
    counts = json.loads(path.read_text())
    counts["hard"]["with_rogue"] += 1
    path.write_text(json.dumps(counts))
    (run,) = runs(copy.parent)
    assert "companies.json is not of this run: rogue_caught on hard is" in run["error"]
    assert "remove it" in run["error"]
    assert str(copy) not in run["error"]
