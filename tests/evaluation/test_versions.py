"""Results of one version of a pack are never mixed with those of another."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chaosops.cli import main
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.claims import check_manifest
from chaosops.evaluation.secret import Secret
from chaosops.evaluation.stored import read_results
from chaosops.evaluation.submission import Submission
from chaosops.packs import load_pack
from chaosops.web.evaluations import folders_with, read_evaluation
from tests.conftest import Outcome

Cli = Callable[..., Outcome]
SECRET = Secret(bytes(range(32)))
WORDS = ("--tiers", "easy", "--seeds", "1", "--policies", "oracle", "--no-figures")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the arena as it is, and as a later version would write them."""
    place = tmp_path_factory.mktemp("versions")
    for version in ("2", "3"):
        with of_version(version):
            assert main(["eval", "--pack", "arena", *WORDS, "--out", str(place / version)]) == 0
    return place


@contextmanager
def of_version(version: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(load_pack("arena")), "version", version)
        yield


@pytest.mark.parametrize("version", ["2", "3"])
def test_results_name_the_version_of_their_pack(cli: Cli, both: Path, version: str) -> None:
    manifest, lines = read_results(both / version)
    assert {name: of["version"] for name, of in manifest["packs"].items()} == {"arena": version}
    assert lines[0]["scenario"]["version"] == version
    assert f", pack arena {version} (" in (both / version / "table.md").read_text()
    (folder,) = folders_with(["results.json"], [both / version])
    (named,) = read_evaluation(folder).report["manifest"]["packs"]
    assert named.startswith(f"arena, version {version} (")
    with of_version(version):
        assert cli("verify", str(both / version)).code == 0


def test_results_of_another_version_do_not_verify(cli: Cli, both: Path) -> None:
    told = cli("verify", str(both / "3"))
    assert told.code == 1
    assert "pack arena is of version 2, not 3" in told.out


def test_a_file_with_two_versions_is_found(both: Path) -> None:
    manifest, first = read_results(both / "2")
    _, other = read_results(both / "3")
    found = list(check_manifest(manifest, [*first, *other]))
    assert "the episodes are of several versions of a pack: arena 2, arena 3" in found


@pytest.mark.parametrize(("held", "present"), [("3", "2"), ("2", "3")])
def test_another_version_is_not_resumed(
    cli: Cli, both: Path, tmp_path: Path, held: str, present: str
) -> None:
    folder = tmp_path / "resumed"
    folder.mkdir()
    (folder / "episodes.jsonl").write_bytes((both / held / "episodes.jsonl").read_bytes())
    words = ("eval", *WORDS, "--out", str(folder), "--resume", "--pack", "arena")
    with of_version(present):
        assert cli(*words).refusal.strip() == (
            f"chaosops: {folder} holds results of pack arena version {held}, and these arguments "
            f"play version {present}; choose another --out, or pass --force instead of --resume "
            "to start over"
        )
    with of_version(held):
        assert cli(*words).code == 0


def test_a_submission_plays_the_version_it_was_opened_for() -> None:
    plan = _plan("2")
    assert {scenario.version for scenario in plan.scenarios(SECRET)} == {"2"}
    assert Submission.from_wire(json.loads(json.dumps(plan.to_wire()))) == plan


@pytest.mark.parametrize(
    ("version", "said"),
    [("3", "pack arena is of version 2, not 3"), ("", "version 1 of the arena.*use chaosops 0.1")],
)
def test_a_submission_of_another_version_is_refused(version: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        _plan(version).scenarios(SECRET)


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
