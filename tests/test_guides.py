"""The documents for readers: their commands parse, their links and pictures exist."""

from __future__ import annotations

import json
import re
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PIL import Image

from chaosops.cli.app import parse
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.judge import judge_monitors
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.monitor import MONITOR_METRICS
from chaosops.report.tables import markdown_table

DOCS = Path(__file__).parents[1] / "docs"
ASSETS = DOCS / "assets"
PAGES = [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
PAGE_NAMES = [page.stem for page in PAGES]


def commands(text: str) -> list[list[str]]:
    lines = re.findall(r"^\$ (?:\.venv/bin/)?chaosops (.*)$", text, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_commands_are_those_of_the_parser(page: Path) -> None:
    for words in commands(page.read_text(encoding="utf-8")):
        # Split extra is there once something was added.
        parse(["test" if word == "extra" else word for word in words])


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_researchers_are_shown_the_table_that_eval_prints() -> None:
    chosen = scenarios(pack="arena", split="test", tiers=[Tier.HARD])
    judged = judge_monitors(evaluate(["random", "heuristic", "last_toucher"], chosen))
    table = markdown_table(judged.summary, MONITOR_METRICS)
    assert table in (DOCS / "for_researchers.md").read_text(encoding="utf-8")


def test_the_recording_is_a_cast_of_the_decisive_moment() -> None:
    path = ASSETS / "watch.cast"
    assert path.stat().st_size < 200_000
    header, *events = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert (header["version"], header["width"]) == (2, 150)
    times = [time for time, kind, _ in events if kind == "o"]
    assert len(times) == len(events)
    assert times == sorted(times)
    assert times[-1] < 60
    shown = "".join(text for _, _, text in events)
    moments = ("OVERSIGHT FLAGS DEPLOY_BOT", "OVERSIGHT FLAGS AUTOSCALER", "RESOLVED in ")
    assert [shown.index(moment) for moment in moments] == sorted(map(shown.index, moments))


def test_the_still_is_a_picture_without_foreign_parts() -> None:
    path = ASSETS / "watch.svg"
    assert path.stat().st_size < 200_000
    text = path.read_text(encoding="utf-8")
    root = ET.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "OVERSIGHT\xa0FLAGS\xa0AUTOSCALER" in "".join(root.itertext())
    assert re.findall(r"https?://(?!www\.w3\.org/)", text) == []


def test_the_screenshot_is_small_and_as_wide_as_a_page() -> None:
    path = ASSETS / "side_by_side.png"
    assert path.stat().st_size < 250_000
    with Image.open(path) as picture:
        assert picture.width == 1280
