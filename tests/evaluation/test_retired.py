"""Files of version 1 of the arena: one line says what they are and which chaosops plays them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import copytree

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.retired import retired
from chaosops.evaluation.verify import stored_results
from chaosops.packs import load_pack, make_scenario
from chaosops.policies.llm.trained_on import require_trained_on
from chaosops.report.evaluated import read_evaluated
from chaosops.web.evaluations import folders_with, read_evaluation
from chaosops.wire.episodes import read_scenario
from chaosops.wire.views import read_rules, rules_to_wire
from tests.conftest import Outcome

# Written by chaosops 0.1.
FILES = Path(__file__).parents[1] / "data/version1"
LINE = retired("arena", "1")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return copytree(FILES, tmp_path / "version1")


@pytest.mark.parametrize(
    "words",
    [
        ("verify", "recording.json"),
        ("replay", "recording.json"),
        ("replay", "recording.json", "--otlp", "spans.json"),
        ("conformance", "recording.json"),
        ("conformance", "run.json"),
        ("conformance", "results/results.json"),
        ("conformance", "results/episodes.jsonl"),
        ("verify", "results"),
        ("recount", "results"),
        ("compare", "results", "results"),
        ("draw", "roc", "results", "--out", "roc.png"),
        ("monitor", "auditor", "transcripts"),
        ("train", "recipe.toml", "--out", "run"),
        ("run", "--pack", "arena1"),
        (
            *("eval", "--pack", "arena", "--tiers", "easy", "--seeds", "1", "--policies", "oracle"),
            *("--no-figures", "--out", "results", "--resume"),
        ),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_every_command_says_what_they_are(
    cli: Callable[..., Outcome],
    files: Path,
    words: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(files)
    before = sorted(path.name for path in files.rglob("*"))
    code, out, err = cli(*words)
    assert code == 2
    assert out == ""
    last = err.strip().splitlines()[-1]
    assert last.startswith("chaosops: ")
    assert LINE in last
    assert "use chaosops 0.1" in LINE
    assert sorted(path.name for path in files.rglob("*")) == before


def test_python_says_it_too() -> None:
    for read in (
        lambda: stored_results(FILES / "results"),
        lambda: read_evaluated(FILES / "results", FILES, ""),
        lambda: load_pack("arena1"),
        lambda: make_scenario(pack="arena1"),
        lambda: read_scenario({"pack": "arena", "tier": "easy", "seed": 3, "limit": 16}),
    ):
        with pytest.raises(BadInput, match=LINE):
            read()


def test_the_page_shows_no_figures_of_it() -> None:
    (folder,) = folders_with(["results.json"], [FILES / "results"])
    shown = read_evaluation(folder).report
    assert set(shown) == {"key", "title", "error"}
    assert LINE in shown["error"]


def test_rules_of_an_old_server_are_refused() -> None:
    """They name no layout, and have a call graph."""
    rules = rules_to_wire(load_pack("arena").open(make_scenario(pack="arena"))[0])
    assert read_rules(rules).layout == "arena"
    with pytest.raises(BadInput, match=LINE):
        read_rules({name: value for name, value in rules.items() if name != "layout"})
    classic = rules_to_wire(load_pack("classic").open(make_scenario())[0])
    assert read_rules(classic).layout == "classic"


def test_an_adapter_of_version_1_is_sent_to_packs_that_are_there() -> None:
    packs = {"arena1": "1", "classic": "1"}
    require_trained_on("mine", packs, "classic", "1")
    with pytest.raises(BadInput, match=r"and not on arena \(version 2\): name --pack classic, or"):
        require_trained_on("mine", packs, "arena", "2")
