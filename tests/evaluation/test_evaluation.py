from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.files import open_folder
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.metrics import summarise
from chaosops.evaluation.results import Results, save
from chaosops.report.tables import explained, markdown_report, markdown_table, warnings

ORACLE = {"easy": 134.0, "medium": 452 / 3, "hard": 170.0}


def test_the_full_matrix_is_540_episodes_for_four_policies() -> None:
    assert 4 * len(scenarios("full")) == 540


def test_the_published_matrix_has_the_published_seeds(data: Path) -> None:
    lines = [json.loads(line) for line in (data / "table.jsonl").read_text().splitlines()]
    published = [
        (v["tier"], v["failure"], v["seed"], v["max_steps"])
        for v in lines
        if v["source"] == "oracle"
    ]
    ours = [(s.tier.value, s.failure, s.seed, s.limit) for s in scenarios("published")]
    assert sorted(ours) == sorted(published)


def test_the_oracle_earns_the_published_numbers() -> None:
    results = evaluate(["oracle"], scenarios("published"))
    for row in results.summary():
        assert row["mean_reward"] == pytest.approx(ORACLE[row["tier"]], abs=1e-5)
        assert row["solved"] == 1.0
        assert row["rogue_caught"] == (None if row["tier"] == "easy" else 1.0)
        assert row["false_flag_rate"] == row["wrong_fixes"] == 0.0
    assert [row["mean_steps"] for row in results.summary()] == [3.0, 3.0, 3.25]


def test_other_seeds_do_not_change_the_oracles_reward() -> None:
    results = evaluate(["oracle"], scenarios("published", seed_start=12345))
    for row in results.summary():
        assert row["mean_reward"] == pytest.approx(ORACLE[row["tier"]], abs=1e-5)


def test_summary_fields_and_missing_rates() -> None:
    results = evaluate(["random"], scenarios("full", tiers=[Tier.EASY], seeds=4))
    (row,) = results.summary()
    assert list(row) == [
        "policy",
        "tier",
        "episodes",
        "mean_reward",
        "reward_ci95",
        "solved",
        "mean_steps",
        "rogue_caught",
        "false_flag_rate",
        "wrong_fixes",
    ]
    low, high = row["reward_ci95"]
    assert low < row["mean_reward"] < high
    nothing = summarise([])
    assert [nothing[name] for name in list(nothing)[1:]] == [None] * 7


def test_two_names_for_one_behaviour_are_called_out() -> None:
    results = evaluate(["random", "oracle"], scenarios("published", tiers=[Tier.EASY]))
    assert list(warnings(results)) == []
    twins = {**results.episodes, "trained": results.episodes["oracle"]}
    suspicious = Results(results.manifest, twins)
    assert suspicious.identical_policies() == [("oracle", "trained")]
    assert "oracle and trained acted identically" in markdown_report(suspicious)


@pytest.mark.parametrize(("split", "is_expected"), [("reserve", True), ("test", False)])
def test_scripts_that_can_read_nothing_are_expected_to_act_alike(
    split: str, is_expected: bool
) -> None:
    matrix = scenarios(pack="arena", split=split, tiers=[Tier.HARD], seeds=1)
    results = evaluate(["heuristic"], matrix)
    status = results.manifest["policies"]["heuristic"]
    manifest = {**results.manifest, "policies": {"heuristic": status, "auditor": status}}
    twins = dict.fromkeys(manifest["policies"], results.episodes["heuristic"])
    (stored,) = warnings(Results(manifest, twins))
    assert stored.startswith("WARNING: heuristic and auditor acted identically")
    told = explained(stored, manifest)
    assert ("this is expected on reserve: scripts cannot read" in told) is is_expected
    assert told.startswith("WARNING") is not is_expected


def test_files_say_how_they_were_made(tmp_path: Path) -> None:
    matrix = scenarios("published", seeds=1)
    results = evaluate(["random", "oracle"], matrix, command="chaosops eval ...")
    path = save(results, open_folder(tmp_path / "deep" / "down"))
    assert path == tmp_path / "deep" / "down" / "results.json"
    stored = json.loads(path.read_text())
    manifest = stored["manifest"]
    assert manifest["command"] == "chaosops eval ..."
    assert set(manifest) >= {"version", "commit", "seeds", "packs", "policies"}
    assert len(manifest["packs"]["classic"]["hash"]) == 16
    assert manifest["policies"]["oracle"]["sees_truth"] is True
    assert len(stored["episodes"]) == 2 * len(matrix)
    for episode in stored["episodes"]:
        assert sum(turn["reward"] for turn in episode["turns"]) == episode["reward"]
    assert len(results.summary()) == 6


def test_equal_evaluations_write_equal_files(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        results = evaluate(["random", "keyword"], scenarios("published", seeds=2), command="x")
        texts.append(save(results, open_folder(tmp_path / name)).read_bytes())
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("policies", "error"),
    [(["orcale"], UnknownName), (["random", "random"], BadInput), ([], BadInput)],
)
def test_bad_policies_fail_before_anything_is_played(policies: list[str], error: type) -> None:
    with pytest.raises(error):
        evaluate(policies, scenarios("published"))


def test_matrix_arguments_are_checked() -> None:
    with pytest.raises(UnknownName, match="matrix"):
        scenarios("huge")
    for wrong in ({"seeds": 0}, {"seed_start": -1}):
        with pytest.raises(BadInput):
            scenarios("full", **wrong)  # type: ignore[arg-type]


def test_the_markdown_table_is_square() -> None:
    results = evaluate(["random"], scenarios("published", seeds=1))
    lines = markdown_table(results.summary()).splitlines()
    assert len(lines) == 2 + 3
    assert len({line.count("|") for line in lines}) == 1
    assert len({len(line) for line in lines}) == 1


def test_results_json_has_no_timestamp_and_no_path(tmp_path: Path) -> None:
    results = evaluate(["oracle"], scenarios("published", seeds=1))
    stored: dict[str, Any] = json.loads(save(results, tmp_path).read_text())
    assert str(tmp_path) not in json.dumps(stored)
