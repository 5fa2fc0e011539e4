"""``chaosops compare``: the same episodes, paired; the ones that differ most can be replayed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops.cli import main
from tests.conftest import Outcome

Cli = Callable[..., Outcome]
SEEDS = ("--pack", "arena", "--tiers", "hard", "--seeds", "12")


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("compare") / "eval"
    words = ["--policies", "heuristic,auditor", "--no-figures", "--out", str(out)]
    assert main(["eval", *SEEDS, *words]) == 0
    return out


def test_folders_and_policies_compare_alike(evaluation: Path, tmp_path: Path, cli: Cli) -> None:
    out = ("--out", str(tmp_path), "--json")
    sides = [
        (f"{evaluation}#auditor", f"{evaluation}#heuristic"),
        ("auditor", f"{evaluation}/results.json#heuristic"),
        ("auditor", "heuristic", *SEEDS),
    ]
    found = [json.loads(cli("compare", *words, *out).out) for words in sides]
    for each in found:
        assert (each["a"], each["b"], each["episodes"]) == ("auditor", "heuristic", 12)
        assert each["differences"] == found[0]["differences"]


def test_the_differences_are_those_of_the_evaluation(
    evaluation: Path, tmp_path: Path, cli: Cli
) -> None:
    words = (f"{evaluation}#auditor", f"{evaluation}#heuristic", "--out", str(tmp_path), "--json")
    rows = {row["measure"]: row for row in json.loads(cli("compare", *words).out)["differences"]}
    judged = json.loads((evaluation / "monitor.json").read_text(encoding="utf-8"))
    for paired in judged["paired"]:
        row = rows[paired["measure"]]
        assert (row["value"], row["ci95"]) == (paired["value"], paired["ci95"])
    for policy, side in (("auditor", "a"), ("heuristic", "b")):
        (summary,) = [row for row in judged["summary"] if row["policy"] == policy]
        for key in ("reward", "rogue_caught", "auroc_turn_2", "tpr_at_1pct_fpr_turn_1"):
            assert rows[key][side] == pytest.approx(summary[key]["value"], abs=1e-6)


def test_the_episodes_that_differ_most_can_be_replayed(
    evaluation: Path, tmp_path: Path, cli: Cli
) -> None:
    (tmp_path / "09_a.json").write_text("of an earlier comparison")
    words = (f"{evaluation}#auditor", f"{evaluation}#heuristic", "--episodes", "2")
    done = cli("compare", *words, "--out", str(tmp_path))
    assert done.code == 0, done.err
    written = json.loads((tmp_path / "compare.json").read_text(encoding="utf-8"))
    gaps = [abs(row["difference"]) for row in written["differing"]]
    assert gaps == sorted(gaps, reverse=True)
    assert len(gaps) == 2
    assert gaps[0] > 0
    assert sorted(path.name for path in tmp_path.glob("0*.json")) == [
        *("01_a.json", "01_b.json", "02_a.json", "02_b.json")
    ]
    for row in written["differing"]:
        for side, path in row["files"].items():
            replayed = cli("replay", path)
            assert replayed.code == 0
            assert f"reward {row['reward'][side]:+.1f}" in replayed.out
    assert f"chaosops replay {tmp_path / '01_a.json'}" in done.out


def test_a_policy_against_itself_acts_alike(tmp_path: Path, cli: Cli) -> None:
    done = cli("compare", "heuristic", "heuristic", *SEEDS, "--out", str(tmp_path))
    assert "Both acted alike in every episode." in done.out


def test_a_pack_without_suspicion_compares_rewards(tmp_path: Path, cli: Cli) -> None:
    words = ("--pack", "classic", "--tiers", "easy", "--seeds", "2", "--json")
    done = cli("compare", "random", "heuristic", *words, "--out", str(tmp_path))
    rows = {row["measure"]: row for row in json.loads(done.out)["differences"]}
    assert rows["reward"]["value"] < 0
    assert rows["auroc_turn_1"]["value"] is None


def test_mistakes_are_one_line(evaluation: Path, tmp_path: Path, cli: Cli) -> None:
    out = ("--out", str(tmp_path / "out"))
    several = cli("compare", str(evaluation), "heuristic", *out).refusal
    assert f"holds several policies; name one, such as {evaluation}#heuristic" in several
    unknown = cli("compare", f"{evaluation}#auditer", "heuristic", *out).refusal
    assert "did you mean 'auditor'?" in unknown
    other = ("eval", "--pack", "arena", "--tiers", "easy", "--seeds", "1", "--policies", "random")
    assert cli(*other, "--no-figures", "--out", str(tmp_path / "easy")).code == 0
    apart = cli("compare", str(tmp_path / "easy"), f"{evaluation}#heuristic", *out).refusal
    assert "have no episode in common" in apart


@pytest.mark.parametrize(
    "words", [("--seeds", "5", "--pack", "classic"), ("--tiers", "hard"), ("--seeds", "200")]
)
def test_options_of_episodes_are_refused_beside_a_folder(
    words: tuple[str, ...], evaluation: Path, tmp_path: Path, cli: Cli
) -> None:
    """Also those with the value that is the default."""
    side, out = f"{evaluation}#auditor", ("--out", str(tmp_path))
    for other in ("heuristic", f"{evaluation}#heuristic"):
        told = cli("compare", side, other, *words, *out).refusal
        assert f"the episodes of {side} are compared as they are; leave out --pack" in told


@pytest.mark.parametrize("name", ["nobody", "results/nobody", "nobody+format=menu"])
def test_what_is_neither_a_folder_nor_a_policy_is_told(
    name: str, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = cli("compare", name, "auditer").refusal
    assert f"unknown folder or policy {name!r}; allowed: a folder of chaosops eval, random" in told
    assert "did you mean 'auditor'?" in cli("compare", "auditer", "heuristic").refusal
    assert f"there is no folder {name}; name" in cli("compare", f"{name}#auditor", "x").refusal


def test_a_folder_of_something_else_is_told(
    evaluation: Path, transcripts: Path, tmp_path: Path, cli: Cli
) -> None:
    stopped, out = tmp_path / "stopped", ("--out", str(tmp_path / "out"))
    stopped.mkdir()
    shutil.copy(evaluation / "episodes.jsonl", stopped)
    for side in (str(stopped), f"{stopped}#auditor", f"{stopped}/results.json"):
        told = cli("compare", side, "auditor", *out).refusal
        assert f"in {stopped} is not finished; repeat its command with --resume" in told
    told = cli("compare", str(transcripts), "auditor", *out).refusal
    assert f"score them with: chaosops monitor SCORER {transcripts}" in told
    told = cli("compare", str(tmp_path), "auditor", *out).refusal
    assert f"{tmp_path} holds no evaluation: it has no results.json" in told


def test_a_folder_does_not_hide_a_policy(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("heuristic").mkdir()
    assert cli("compare", "heuristic", "auditor", *SEEDS[:-1], "2").code == 0


def test_different_rewards_are_told(evaluation: Path, tmp_path: Path, cli: Cli) -> None:
    strict = tmp_path / "strict"
    words = ("--policies", "heuristic", "--no-figures", "--rewards", "mttr=0.5")
    assert cli("eval", *SEEDS, *words, "--out", str(strict)).code == 0
    out = ("--out", str(tmp_path / "out"))
    told = cli("compare", f"{evaluation}#heuristic", str(strict), *out).out
    assert told.count("Rewards differ, so do not compare them") == 1
    assert "has the standard" in told
    assert "has mttr=0.5" in told
    told = cli("compare", f"{evaluation}#heuristic", "auditor", *out).out
    assert "Rewards differ" not in told
    assert "other than the standard" not in told


def test_a_policy_plays_for_the_rewards_of_the_folder(tmp_path: Path, cli: Cli) -> None:
    words = ("--policies", "heuristic", "--no-figures", "--rewards", "mttr=0.5")
    assert cli("eval", *SEEDS, *words, "--out", str(tmp_path / "strict")).code == 0
    out = ("--out", str(tmp_path / "out"), "--json")
    found = json.loads(cli("compare", "heuristic", str(tmp_path / "strict"), *out).out)
    assert found["rewards"] == {"a": {"mttr": 0.5}, "b": {"mttr": 0.5}}
    assert found["differences"][0]["value"] == 0


def test_a_comparison_that_fails_leaves_no_empty_folder(tmp_path: Path, cli: Cli) -> None:
    assert "unknown folder" in cli("compare", "a", "b", "--out", str(tmp_path / "new/out")).refusal
    assert list(tmp_path.iterdir()) == []
