"""Documents and card of the model that ships follow from its files, whichever are there."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.results import save
from chaosops.evaluation.statistics import share_ci95
from chaosops.policies.llm.adapter import adapter_identity
from chaosops.report.seeds import best_seed, chosen_words, read_seeds
from chaosops.report.written import derived_files, judged
from chaosops.training.recipe_files import find_recipe, load_recipe
from tests.report.run_folder import make_run

ROOT = Path(__file__).parents[2]
OURS = "trained+batch=2"
DOCUMENTS = ("arena", "training", "live", "live_control")
STAGES = {"reading_first": -80.0, "reading_second": 40.0}


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Sequence[Any]:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import result_tables
    import shipped_card

    return result_tables, shipped_card


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with documents, an adapter, its training and two seeds, and no evaluation."""
    for name in (
        "README.md",
        "docs/arena.md",
        "docs/training.md",
        "docs/live.md",
        "docs/live_control.md",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    trained = tmp_path / "src/chaosops/trained"
    made = make_run(tmp_path / "made")
    trained.mkdir(parents=True)
    (made / "adapter").rename(trained / "adapter")
    for stage, reward in STAGES.items():
        write_run(trained / "training" / stage, stage, 1, reward)
        for seed in (0, 1):
            write_run(tmp_path / f"experiments/seeds/{seed}/{stage}", stage, seed, reward + seed)
    (tmp_path / "experiments/LOG.md").write_text("# Log\n")
    return tmp_path


def write_run(folder: Path, stage: str, seed: int, reward: float) -> None:
    """The second of three validations is the best."""
    folder.mkdir(parents=True)
    recipe = replace(load_recipe(find_recipe(stage)), seed=seed)
    (folder / "recipe.toml").write_text(recipe.to_toml())
    (folder / "cost.jsonl").write_text('{"seconds": 600, "machine": "1 x H200"}\n')
    rows: list[dict[str, Any]] = [
        {"step": 1, "regret": {"arena oversight": 9.0}, "tiers": {"hard": 9}, "states": 5}
    ]
    for step, more in ((0, -50.0), (100, 0.0), (200, -5.0)):
        found = {
            "mean_reward": reward + more,
            "solved": 0.75,
            "rogue_caught": 0.8125,
            "false_flag_rate": 0.0625,
            "wrong_fixes": 0.5,
            "auroc_turn_3": 0.9375,
        }
        rows.append({"step": step, "validation": {"hard": found, "reserve hard": found}})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_evaluation(root: Path, name: str, *, seeds: int = 12, split: str = "test") -> Path:
    """A real evaluation of scripts, in which keyword stands for the model."""
    trained = root / "src/chaosops/trained"
    chosen = scenarios(pack="arena", split=split, tiers=[Tier.HARD], seeds=seeds)
    played = evaluate(["heuristic", "auditor", "keyword", "oracle"], chosen)
    played.manifest["policies"]["keyword"] = {
        "kind": "model",
        "policy": "it",
        "adapter": f"adapter {adapter_identity(trained / 'adapter')}",
    }
    folder = trained / "evaluations" / name
    folder.mkdir(parents=True)
    save(played, folder)
    for file, text in derived_files(played, judged(played)).items():
        (folder / file).write_text(text)
    for path in folder.glob("*.json"):
        path.write_text(path.read_text().replace('"keyword"', f'"{OURS}"'))
    return folder


def read(root: Path, name: str) -> str:
    return (root / name).read_text(encoding="utf-8")


def run(script: Any, root: Path, *words: str) -> int:
    code: int = script.main(words, root)
    return code


def test_without_an_evaluation_the_validation_is_shown_and_the_rest_is_missing(
    scripts: Sequence[Any], root: Path
) -> None:
    tables, _ = scripts
    assert run(tables, root) == 0
    readme = read(root, "README.md")
    assert "Validation of its run on `reserve`, 48 companies a tier. It chose the model" in readme
    assert "| reserve, hard | +40 | 75 % | 81 % | 0.06 | 0.94 |" in readme
    assert "`test`, `ood_names`" in readme
    assert "and `ood_scale`: not evaluated yet." in readme
    assert "Rates at few false alarms on `test`" in readme
    training = read(root, "docs/training.md")
    assert "- `reading_second`: 200 updates, seed 1, 10 minutes on 1 x H200." in training
    assert "| reading_second, seed 1 | " in training
    assert (
        "The run with the highest mean reward over the tiers of `reserve` ships: seed 1."
        in training
    )
    assert run(tables, root, "--check") == 0


def test_what_is_out_of_date_is_named(
    scripts: Sequence[Any], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables, card = scripts
    assert (run(tables, root), run(card, root)) == (0, 0)
    assert (run(tables, root, "--check"), run(card, root, "--check")) == (0, 0)
    metrics = root / "src/chaosops/trained/training/reading_second/metrics.jsonl"
    metrics.write_text(metrics.read_text().replace("40.0", "41.0"))
    capsys.readouterr()
    assert (run(tables, root, "--check"), run(card, root, "--check")) == (1, 1)
    said = capsys.readouterr().out
    assert "README.md: out of date" in said
    assert "trained/README.md: out of date" in said
    assert run(tables, root, "--chekc") == run(card, root, "all") == 2


def test_an_evaluation_is_shown_with_its_difference_to_the_auditor(
    scripts: Sequence[Any], root: Path
) -> None:
    tables, _ = scripts
    folder = write_evaluation(root, "arena_test")
    summary = {row["policy"]: row for row in json.loads((folder / "summary.json").read_text())}
    lines = json.loads((folder / "results.json").read_text())["episodes"]
    rewards = {name: [e["reward"] for e in lines if e["policy"] == name] for name in summary}
    above = mean(a - b for a, b in zip(rewards[OURS], rewards["auditor"], strict=True))
    assert run(tables, root) == 0
    readme = read(root, "README.md")
    (row,) = [line for line in readme.splitlines() if line.startswith("| test, hard |")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    means = [summary[name]["mean_reward"] for name in (OURS, "auditor", "oracle")]
    assert cells[1:4] == [f"{value:+.0f}" for value in means]
    assert cells[4].startswith(f"{above:+.0f} [")
    assert "On 12 companies of `test` (tier hard), none of which it was trained on:" in readme
    assert "| **trained** |" in readme
    assert "`ood_names`, `ood_mechanism`" in readme
    assert "`test`, `ood_names`" not in readme.partition("Rates at few")[0]
    assert run(tables, root, "--check") == 0


def test_the_reserve_is_said_to_have_chosen_the_model(scripts: Sequence[Any], root: Path) -> None:
    tables, _ = scripts
    write_evaluation(root, "arena_reserve", split="reserve")
    assert run(tables, root) == 0
    readme = read(root, "README.md")
    assert "`test` is not evaluated yet. On 12 companies of `reserve` (tier hard)" in readme
    assert "It chose the model, so these figures are a little too good:" in readme
    assert "Validation of its run" not in readme


def test_rates_have_wilsons_bounds_over_rogues(scripts: Sequence[Any], root: Path) -> None:
    from shipped_files import FALSE_ALARMS

    tables, _ = scripts
    folder = root / "src/chaosops/trained/evaluations/rates_test"
    folder.mkdir(parents=True)
    at = {"value": 0.8, "ci95": None}
    row = {"policy": OURS, "tier": "hard", "episodes": 6000, "rogue_episodes": 3000}
    found = {**row, **dict.fromkeys(FALSE_ALARMS.values(), at)}
    found["tpr_at_1pct_fpr_last_turn"] = {**at, "value": 0.5}
    (folder / "monitor.json").write_text(json.dumps({"summary": [found], "paired": []}))
    assert run(tables, root) == 0
    low, high = share_ci95(2400, 3000) or (0, 0)
    shown = f"| test, hard | 3,000 | 3,000 | 80.0% [{low:.1%}, {high:.1%}] | 50.0% ["
    assert shown in read(root, "README.md")
    assert shown in read(root, "docs/arena.md")
    assert "Rates at few false alarms on `ood_names`" in read(root, "docs/arena.md")


def test_the_card_reports_every_seed_and_the_stages(scripts: Sequence[Any], root: Path) -> None:
    _, card = scripts
    write_evaluation(root, "arena_test")
    assert run(card, root) == 0
    text = read(root, "src/chaosops/trained/README.md")
    squeezed = " ".join(text.split())
    assert "2 runs that differ by their seed alone" in text
    assert "ships: seed 1. So its own row is a little too good" in text
    assert "Every second episode goes as the model of the stage before had played it." in text
    for seed in (0, 1):
        for stage, reward in STAGES.items():
            figures = f"{reward + seed:+.1f} | 75 % | 81 % | 0.06 | 0.94"
            assert f"| {stage}, seed {seed} | 100 | {figures} |" in squeezed
    assert "The best validation, after 100 updates" in text
    assert "(training/reading_second/recipe.toml)" in text
    assert "$ chaosops run --policy trained --pack arena --prompts" in text
    assert "### arena_test" in text
    assert "**this adapter**" in text
    assert "Not evaluated on: ood_names" in text
    assert "| reading_first | 1 x H200 | 1 | 10.0 |" in squeezed
    assert "one training run with one seed" not in text


def test_an_evaluation_of_another_adapter_is_refused(
    scripts: Sequence[Any], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, card = scripts
    write_evaluation(root, "arena_test")
    weights = root / "src/chaosops/trained/adapter/adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes() + b" ")
    assert run(card, root) == 2
    assert "has no policy with the adapter" in capsys.readouterr().out
    shutil.rmtree(root / "src/chaosops/trained/training")
    assert run(card, root) == 2
    assert "holds no run; put its folder there" in capsys.readouterr().out


def test_a_block_that_nobody_writes_is_named(
    scripts: Sequence[Any], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = root / "docs/arena.md"
    page.write_text(page.read_text().replace("results: rates", "results: ratse"))
    assert run(scripts[0], root) == 2
    assert "no results are called ratse; allowed: headline, arena" in capsys.readouterr().out


def test_each_stage_comes_after_the_one_that_it_starts_from(
    scripts: Sequence[Any], root: Path
) -> None:
    """The alphabet has another order."""
    from shipped_files import Files

    training = root / "src/chaosops/trained/training"
    for stage in ("reading_fourth", "reading_third"):
        write_run(training / stage, stage, 0, 90.0)
    recipe = training / "reading_second/recipe.toml"
    recipe.write_text(recipe.read_text().replace("runs/reading_first/", "runs/reading_first-2/"))
    names = [stage.folder.name for stage in Files(root).stages()]
    assert names == ["reading_first", "reading_second", "reading_third", "reading_fourth"]


def test_the_best_seed_is_that_of_the_last_stage(scripts: Sequence[Any], root: Path) -> None:
    from shipped_files import Files

    seeds = root / "experiments/seeds"
    assert best_seed(read_seeds(seeds)) == "1"
    metrics = seeds / "0/reading_second/metrics.jsonl"
    metrics.write_text(metrics.read_text().replace("40.0", "90.0"))
    assert best_seed(read_seeds(seeds)) == "0"
    shipped = Files(root).stages()
    told = "Seed 1 ships. Seed 0 has the highest mean reward over the tiers of `reserve`."
    assert chosen_words(read_seeds(seeds), shipped) == told
    write_run(root / "src/chaosops/trained/training/reading_third", "reading_third", 0, 90.0)
    more = Files(root).stages()
    assert chosen_words(read_seeds(seeds), more) == f"{told} It alone went through `reading_third`."
    with pytest.raises(BadInput, match="reading_second, which is no stage of the shipped run"):
        chosen_words(read_seeds(seeds), shipped[:1])
    shutil.rmtree(seeds / "0/reading_second")
    with pytest.raises(BadInput, match="do not have the same stages"):
        read_seeds(seeds)


def test_a_thinned_run_keeps_its_validations(root: Path, tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "experiments"))
    try:
        import thin_run
    finally:
        sys.path.remove(str(ROOT / "experiments"))
    whole = root / "src/chaosops/trained/training/reading_first"
    rows = [
        {"step": step, "regret": {"arena oversight": 1.0}, "tiers": {"hard": 9}}
        for step in range(1, 101)
    ]
    with (whole / "metrics.jsonl").open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    out = tmp_path / "thin"
    assert thin_run.thin(whole, out) == 3 + 5
    kept = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in kept if "validation" in row] == [0, 100, 200]
    assert [row["step"] for row in kept if "validation" not in row] == [20, 40, 60, 80, 100]
    assert (out / "recipe.toml").read_bytes() == (whole / "recipe.toml").read_bytes()
    with pytest.raises(BadInput, match="cannot read metrics"):
        thin_run.thin(tmp_path / "nothing", out)


def test_the_picture_of_the_stages_is_drawn(root: Path, tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "experiments"))
    try:
        import draw_stages
    finally:
        sys.path.remove(str(ROOT / "experiments"))
    seeds = read_seeds(root / "experiments/seeds")
    path = draw_stages.stages_curve(seeds, tmp_path / "stages.png")
    assert path.stat().st_size > 10_000
    assert draw_stages._ends(seeds["0"]) == [200, 400]
    curve = draw_stages._curve(seeds["0"], "reserve hard", "mean_reward")
    first = {(0, 0): -130.0, (0, 100): -80.0, (0, 200): -85.0}
    assert curve == {**first, (1, 200): -10.0, (1, 300): 40.0, (1, 400): 35.0}
    with pytest.raises(BadInput, match="no seed to draw"):
        draw_stages.stages_curve({}, path)
