"""Results of one version of a pack are never mixed with those of another."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.claims import check_manifest
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.secret import Secret
from chaosops.evaluation.stored import read_results
from chaosops.evaluation.submission import Submission
from chaosops.web.evaluations import folders_with, read_evaluation
from tests.conftest import Outcome

Cli = Callable[..., Outcome]
SECRET = Secret(bytes(range(32)))
WORDS = ("--tiers", "easy", "--seeds", "1", "--policies", "oracle", "--no-figures")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from chaosops.cli import main

    place = tmp_path_factory.mktemp("versions")
    for pack in ("arena", "arena1"):
        assert main(["eval", "--pack", pack, *WORDS, "--out", str(place / pack)]) == 0
    return place


@pytest.mark.parametrize(("pack", "version"), [("arena", "2"), ("arena1", "1")])
def test_results_name_the_version_of_their_pack(
    cli: Cli, both: Path, pack: str, version: str
) -> None:
    manifest, lines = read_results(both / pack)
    assert {name: of["version"] for name, of in manifest["packs"].items()} == {"arena": version}
    assert lines[0]["scenario"].get("version", "1") == version
    assert f", pack arena {version} (" in (both / pack / "table.md").read_text()
    (folder,) = folders_with(["results.json"], [both / pack])
    assert read_evaluation(folder)["manifest"]["packs"][0].startswith(f"arena, version {version} (")
    assert cli("verify", str(both / pack)).code == 0


def test_versions_are_not_played_together() -> None:
    matrix = [
        *scenarios(pack="arena", tiers=[Tier.EASY], seeds=1),
        *scenarios(pack="arena1", tiers=[Tier.EASY], seeds=1),
    ]
    with pytest.raises(BadInput, match="arena 2 and 1 cannot be mixed; evaluate each of them"):
        evaluate(["oracle"], matrix)


def test_a_file_with_two_versions_is_found(both: Path) -> None:
    manifest, first = read_results(both / "arena")
    _, other = read_results(both / "arena1")
    found = list(check_manifest(manifest, [*first, *other]))
    assert "the episodes are of several versions of a pack: arena 1, arena 2" in found


@pytest.mark.parametrize(
    ("held", "version", "asked", "present"),
    [("arena1", "1", "arena", "2"), ("arena", "2", "arena1", "1")],
)
def test_another_version_is_not_resumed(
    cli: Cli, both: Path, tmp_path: Path, held: str, version: str, asked: str, present: str
) -> None:
    folder = tmp_path / "resumed"
    folder.mkdir()
    (folder / "episodes.jsonl").write_bytes((both / held / "episodes.jsonl").read_bytes())
    words = ("eval", *WORDS, "--out", str(folder), "--resume")
    assert cli(*words, "--pack", asked).refusal.strip() == (
        f"chaosops: {folder} holds results of pack arena version {version}, and these arguments "
        f"play version {present}; go on with --pack {held}, or choose another --out"
    )
    assert cli(*words, "--pack", held).code == 0


def test_a_version_that_no_pack_plays_is_not_resumed(cli: Cli, both: Path, tmp_path: Path) -> None:
    journal = (both / "arena/episodes.jsonl").read_text(encoding="utf-8")
    (tmp_path / "episodes.jsonl").write_text(
        journal.replace('"version":"2"', '"version":"7"'), encoding="utf-8"
    )
    words = ("eval", "--pack", "arena", *WORDS, "--out", str(tmp_path), "--resume")
    assert "version 7, and these arguments play version 2; choose another" in cli(*words).refusal


@pytest.mark.parametrize(("version", "pack"), [("", "arena1"), ("2", "arena")])
def test_a_submission_plays_the_version_it_was_opened_for(version: str, pack: str) -> None:
    plan = _plan(version)
    assert {scenario.pack for scenario in plan.scenarios(SECRET)} == {pack}
    again = Submission.from_wire(json.loads(json.dumps(plan.to_wire())))
    assert again == plan
    assert ("version" in plan.to_wire()) == bool(version)


def test_a_submission_of_an_unknown_version_is_refused() -> None:
    with pytest.raises(BadInput, match="pack arena is of version 2, not 3"):
        _plan("3").scenarios(SECRET)


def _plan(version: str) -> Submission:
    roles = (Role.OVERSIGHT,)
    series, partners = "main", "heuristic"
    digest = "0" * 64
    return Submission(
        "acme",
        "test",
        (Tier.HARD,),
        2,
        0,
        series,
        roles,
        partners,
        SECRET.commitment,
        digest,
        version,
    )
