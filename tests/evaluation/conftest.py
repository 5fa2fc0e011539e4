"""An evaluation of scripts and of a language model, and a copy that a test may change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from chaosops import Team, load_policy
from chaosops.cli import main
from chaosops.core.vocabulary import Role
from chaosops.rollout import load_team
from tests.fake_model import FakeModel

POLICIES = "heuristic,random,fake,half"
SEEDS = 12  # episodes of the transcripts
WORDS = {
    "classic": ["--matrix", "published", "--tiers", "easy,hard", "--seeds", "1"],
    "arena": ["--pack", "arena", "--tiers", "hard", "--seeds", "3"],
}


def load(name: str) -> Team:
    """``fake`` is a language model; ``half`` is one that takes one role of four."""
    if name == "fake":
        return Team.of(FakeModel("heuristic", {2: "I flag it!"}))
    if name == "half":
        scripts = dict.fromkeys(Role, load_policy("oracle"))
        return Team({**scripts, Role.OVERSIGHT: FakeModel("heuristic")}, name)
    return load_team(name)


@pytest.fixture(scope="session")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an evaluation of each pack."""
    place = tmp_path_factory.mktemp("untouched")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chaosops.evaluation.players.load_team", load)
        for pack, words in WORDS.items():
            out = ["--no-figures", "--out", str(place / pack)]
            assert main(["eval", *words, "--policies", POLICIES, *out]) == 0
    return place


@pytest.fixture(scope="session")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of chaosops transcripts, which tests must not change."""
    out = tmp_path_factory.mktemp("transcripts") / "out"
    assert main(["transcripts", str(out), "--seeds", str(SEEDS)]) == 0
    return out


@pytest.fixture(params=list(WORDS))
def folder(request: pytest.FixtureRequest, untouched: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(untouched / str(request.param), tmp_path / "copy"))


@pytest.fixture
def arena(untouched: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(untouched / "arena", tmp_path / "arena"))


@pytest.fixture
def classic(untouched: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(untouched / "classic", tmp_path / "classic"))
