"""A card says what the files say, and nothing else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from huggingface_hub import ModelCard

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.metrics import METRICS, cells
from chaosops.evaluation.monitor import MONITOR_METRICS
from chaosops.policies.llm.calibration import Calibration, write_calibration
from chaosops.report.evaluated import OURS, Evaluated, read_evaluated
from chaosops.report.model_card import model_card
from chaosops.report.run_record import FailedRun, failed_runs, read_run
from tests.report.run_folder import BASE, COMMAND, make_results, make_run

ROOT = Path(__file__).parents[2]


def weights(run: Path) -> Path:
    return run / "adapter/adapter_model.safetensors"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "small")


@pytest.fixture(scope="module")
def evaluated(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    folder = tmp_path_factory.mktemp("results") / "arena_test"
    make_results(folder, run)
    return read_evaluated(folder, weights(run).parent, "")


def squeezed(text: str) -> str:
    """Without the padding of tables."""
    return " ".join(text.split())


def test_the_front_matter_is_what_the_hub_reads(run: Path) -> None:
    card = ModelCard(model_card(read_run(run), [], []))
    facts = card.data.to_dict()
    assert facts["base_model"] == BASE
    assert facts["library_name"] == "peft"
    assert facts["license"] == "apache-2.0"
    assert {"openenv", "chaosops", "grpo", "lora"} <= set(facts["tags"])
    assert card.text.lstrip().startswith("# small\n")


def test_the_table_is_the_evaluation_s_own(run: Path, tmp_path: Path) -> None:
    played = make_results(tmp_path / "again", run)
    found = read_evaluated(tmp_path / "again/results.json", weights(run).parent, "")
    assert list(found.summary) == played.summary()  # summed up anew, from the episodes
    card = model_card(read_run(run), [found], [])
    for row in played.summary():
        shown = {**row, "policy": OURS if row["policy"] == "heuristic" else row["policy"]}
        assert squeezed(" | ".join(cells(shown, METRICS))) in squeezed(card)
    assert f"$ {COMMAND}" in card
    assert "12 episodes a policy" in card


def test_the_overseer_s_figures_are_those_of_the_monitor_file(
    run: Path, evaluated: Evaluated
) -> None:
    card = model_card(read_run(run), [evaluated], [])
    assert "AUROC" in card
    for row in evaluated.monitor:
        shown = {**row, "policy": evaluated.labels[row["policy"]]}
        assert squeezed(" | ".join(cells(shown, MONITOR_METRICS))) in squeezed(card)
    assert "Not evaluated on: ood_names" in card


def test_a_card_says_where_a_script_earns_more(run: Path, evaluated: Evaluated) -> None:
    assert "Outdone" not in model_card(read_run(run), [evaluated], [])  # the oracle is told
    blind = {**evaluated.manifest["policies"]["oracle"], "sees_truth": False}
    policies = {**evaluated.manifest["policies"], "oracle": blind}
    found = replace(evaluated, manifest={**evaluated.manifest, "policies": policies})
    card = model_card(read_run(run), [found], [])
    rewards = {(row["policy"], row["tier"]): row["mean_reward"] for row in found.summary}
    tiers = [t for t in Tier if rewards["oracle", t] > rewards["heuristic", t]]
    assert "hard" in tiers
    assert f"- Outdone by oracle in arena_test: {', '.join(tiers)}." in card


def test_without_the_monitor_file_there_is_no_auroc(run: Path, tmp_path: Path) -> None:
    make_results(tmp_path / "plain", run)
    (tmp_path / "plain/monitor.json").unlink()
    found = read_evaluated(tmp_path / "plain", weights(run).parent, "")
    assert "AUROC" not in model_card(read_run(run), [found], [])


def test_in_a_team_the_adapter_s_seat_is_named(run: Path, tmp_path: Path) -> None:
    make_results(tmp_path / "team", run, team=True)
    found = read_evaluated(tmp_path / "team", weights(run).parent, "")
    seats = set(found.labels["heuristic"].split("; "))
    assert seats == {f"oversight: {OURS}", "sre, dev, manager: oracle"}


def test_a_run_that_was_not_evaluated_says_so(run: Path) -> None:
    card = model_card(read_run(run), [], None)
    assert "**Not evaluated.**" in card
    assert "95 % interval" not in card
    assert "Not recorded: the run has no cost.jsonl" in card
    assert "No log of experiments was named" in card
    assert "Not drawn." in card


def test_a_calibration_is_named_with_what_it_mended(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    assert "calibrated" not in model_card(read_run(run), [], [])
    figures = [{"ece_turn_3": {"value": ece, "ci95": [0.01, 0.3]}} for ece in (0.2, 0.05)]
    origin = {"episodes": 600, "splits": ["reserve"]}
    told = {"fitted_on": origin, "before": figures[0], "after": figures[1]}
    write_calibration(run / "adapter", Calibration(0.5, 1.0), told)
    card = squeezed(model_card(read_run(run), [], []))
    assert "calibrated on 600 episodes of reserve: calibration error (ECE) 0.200 [0.010" in card
    assert "0.050 [0.010, 0.300] after" in card
    write_calibration(run / "adapter", Calibration(0.5, 1.0), {})
    with pytest.raises(BadInput, match="does not say what it was fitted on"):
        model_card(read_run(run), [], [])


def test_recipe_data_and_hashes_come_from_the_run(run: Path) -> None:
    card = model_card(read_run(run), [], [], "ada/overseer")
    assert "\n# overseer\n" in card
    assert "hf download ada/overseer" in card
    assert "adapter=adapter+format=menu" in card
    assert "| `steps` | `3` |" in squeezed(card)
    assert "`sampling_temperature`" not in card  # of the other method
    assert "in 25 % of the episodes classic" in card
    assert "3 updates, 306 turns learned from, the number of episodes was not recorded" in card
    assert "| hard | -12.3 | 50 % | n/a | 0.25 |" in squeezed(card)
    assert hashlib.sha256(weights(run).read_bytes()).hexdigest() in card


def test_the_other_method_names_its_format_and_values(tmp_path: Path) -> None:
    run = make_run(
        tmp_path / "drawn", method="trl", continuation="none", validated=False, episodes=9
    )
    card = model_card(read_run(run), [], [])
    assert "+format=json" in card
    assert "one JSON action" in card
    assert "`sampling_temperature`" in card
    assert "`idle_bonus`" not in card
    assert "of at most 9 episodes" in card
    assert "The run was not validated." in card


def test_costs_are_summed_by_machine(tmp_path: Path) -> None:
    run = make_run(tmp_path / "paid")
    rows = [{"seconds": 90, "machine": "NVIDIA A10G"}, {"seconds": 30, "machine": "NVIDIA A10G"}]
    (run / "cost.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "| small | NVIDIA A10G | 2 | 2.0 |" in squeezed(model_card(read_run(run), [], []))
    (run / "cost.jsonl").write_text('{"minutes": 3}\n')
    with pytest.raises(BadInput, match=r"cost.jsonl:1 is not a row"):
        read_run(run)


def test_failed_runs_are_quoted_with_their_lesson(run: Path) -> None:
    failures = failed_runs(ROOT / "experiments/LOG.md")
    assert any("NaN" in failure.lesson for failure in failures)
    assert all("**Failed**" in failure.lesson for failure in failures)
    card = model_card(read_run(run), [], failures)
    assert all(failure.lesson in card for failure in failures)


def test_only_failed_rows_are_taken_from_a_log(tmp_path: Path) -> None:
    log = tmp_path / "LOG.md"
    log.write_text(
        "## Trial\n\n| run | cost | lesson |\n|---|---|---|\n"
        "| 1 | 2 min | Fine. |\n| 2 | - | **Failed**: too hot. Cool it. |\n"
    )
    assert failed_runs(log) == [FailedRun("Trial", "run 2", "**Failed**: too hot. Cool it.")]


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("recipe.toml", "holds no run"),
        ("adapter/adapter_model.safetensors", "--resume"),
        ("adapter/adapter_config.json", "holds no adapter"),
        ("metrics.jsonl", "holds no metrics"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, missing: str, said: str) -> None:
    run = make_run(tmp_path / "half")
    (run / missing).unlink()
    with pytest.raises(BadInput, match=said):
        read_run(run)


def test_results_of_another_adapter_are_refused(
    run: Path, evaluated: Evaluated, tmp_path: Path
) -> None:
    other = make_run(tmp_path / "other")
    weights(other).write_bytes(weights(other).read_bytes() + b" ")
    with pytest.raises(BadInput, match="has no policy with the adapter"):
        read_evaluated(evaluated.path, weights(other).parent, "")


@pytest.mark.parametrize("text", ["{}", "no JSON", '{"manifest": {}, "episodes": [{}]}'])
def test_a_file_that_is_no_results_file_is_named(run: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(BadInput, match=r"not a results file|is not JSON"):
        read_evaluated(tmp_path, weights(run).parent, "")
    with pytest.raises(BadInput, match="cannot read results"):
        read_evaluated(tmp_path / "nowhere", weights(run).parent, "")


def test_a_password_in_a_command_is_not_published(run: Path, tmp_path: Path) -> None:
    make_results(tmp_path / "r", run)
    file = tmp_path / "r/results.json"
    file.write_text(file.read_text().replace(COMMAND, "chaosops eval @http://me:pw@127.0.0.1/v1"))
    with pytest.raises(BadInput, match="password"):
        read_evaluated(tmp_path / "r", weights(run).parent, "")
