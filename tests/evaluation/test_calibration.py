from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.calibration import (
    calibrated,
    cross_calibrated,
    fit,
    reliability,
    require_validation,
)
from chaosops.evaluation.cases import Case
from chaosops.evaluation.evaluate import results_of
from chaosops.evaluation.journal import Journal
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.monitor import monitor_summary
from chaosops.evaluation.results import JOURNAL_NAME, save
from chaosops.packs import load_pack, make_scenario
from chaosops.policies.llm.adapter import adapter_identity
from chaosops.policies.llm.calibration import read_calibration
from chaosops.rollout import load_team, play_many
from tests.conftest import Outcome
from tests.evaluation.test_monitor import case

Cli = Callable[..., Outcome]
VALIDATION = range(2_000_000, 2_100_000)


def sigmoid(leaning: float) -> float:
    return 1 / (1 + math.exp(-leaning))


def sure_cases(n: int, seed: int = 0, slope: float = 0.5, intercept: float = -1.0) -> list[Case]:
    """Episodes of one agent whose true log-odds are a line through those of its suspicion."""
    generator = np.random.default_rng(seed)
    cases = []
    for number in range(n):
        said = float(f"{sigmoid(generator.normal(0, 5)):.6g}")
        true = sigmoid(slope * math.log(said / (1 - said)) + intercept) if 0 < said < 1 else said
        guilty = "cache" if generator.random() < true else None
        cases.append(case(number, guilty, suspicion={"cache": said}))
    return cases


def test_a_known_line_is_found() -> None:
    found = fit(sure_cases(20_000))
    assert found.slope == pytest.approx(0.5, abs=0.03)
    assert found.intercept == pytest.approx(-1.0, abs=0.08)


def test_no_other_line_is_likelier() -> None:
    cases = sure_cases(400, seed=3)
    said = [sum(c.suspicion().values()) for c in cases]
    truth = np.array([c.rogue is not None for c in cases])
    n, k = len(truth), int(truth.sum())
    target = np.where(truth, (k + 1) / (k + 2), 1 / (n - k + 2))
    x = np.array([math.log(max(p, 1e-16) / max(1 - p, 5e-7)) for p in said])

    def loss(slope: float, intercept: float) -> float:
        p = 1 / (1 + np.exp(-slope * x - intercept))
        return float(-(target * np.log(p) + (1 - target) * np.log(1 - p)).sum())

    best = fit(cases)
    for move in (-1e-3, 1e-3):
        assert loss(*best) < loss(best.slope + move, best.intercept)
        assert loss(*best) < loss(best.slope, best.intercept + move)


def test_a_suspicion_that_separates_everything_has_a_finite_line() -> None:
    cases = [case(i, "cache", suspicion={"cache": 1.0, "deploy": 0.0}) for i in range(50)]
    cases += [case(i, suspicion={"cache": 0.0, "deploy": 0.0}) for i in range(50, 100)]
    found = fit(cases)
    assert 0 < found.slope < 1
    assert 0.9 < found.of(1.0) < 1


def test_calibration_mends_the_probabilities_and_no_ranking() -> None:
    """The after figures are of companies that the line was not fitted to."""
    cases = sure_cases(2000, seed=5)
    mended = cross_calibrated(cases)
    before, after = reliability(cases), reliability(mended)
    for name in ("brier_turn_3", "ece_turn_3"):
        assert after[name]["ci95"][1] < before[name]["ci95"][0]
    line = fit(cases)
    one, other = monitor_summary(cases), monitor_summary(calibrated(cases, lambda _: line))
    ranks = [name for name in one if name.startswith(("auroc", "tpr"))]
    assert {name: one[name] for name in ranks} == {name: other[name] for name in ranks}


def test_the_fit_that_calibrates_a_case_does_not_know_it() -> None:
    cases = sure_cases(300, seed=7)
    liar = cases[10]._replace(rogue=None if cases[10].rogue else "cache")
    other = [*cases[:10], liar, *cases[11:]]
    assert cross_calibrated(cases)[10].suspicions == cross_calibrated(other)[10].suspicions
    assert cross_calibrated(cases)[11].suspicions != cross_calibrated(other)[11].suspicions


def test_what_cannot_be_fitted_is_refused() -> None:
    benign = [c for c in sure_cases(300) if c.rogue is None]
    with pytest.raises(BadInput, match=r"0 rogue and \d+ benign episodes are too few"):
        fit(benign)
    with pytest.raises(BadInput, match="has no suspicion"):
        fit([*sure_cases(300), case(999, "cache")])
    turned = [c._replace(rogue=None if c.rogue else "cache") for c in sure_cases(400)]
    with pytest.raises(BadInput, match="not higher than that of others"):
        fit(turned)


def test_a_line_that_would_be_refused_when_read_is_not_fitted() -> None:
    """Rogues and others are told apart far below a millionth: suspicions near 1 become equal."""
    cases = [case(i, "cache", suspicion={"cache": 1e-7}) for i in range(50)]
    cases += [case(i, suspicion={"cache": 1e-9}) for i in range(50, 100)]
    with pytest.raises(BadInput, match="does not keep the order of suspicions near 1; play"):
        fit(cases)


def episodes_of(chosen: list[Scenario]) -> list[Episode]:
    return list(play_many(chosen, load_team("heuristic")))


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"split": "test"}, "split test is for evaluation.* --split reserve, or --split train"),
        ({"split": "ood_shape", "seed": 2_000_000}, "split ood_shape is for evaluation"),
        ({"split": "train", "seed": 5}, "seed 5 of split train may have been trained on"),
    ],
)
def test_only_validation_episodes_are_fitted_to(chosen: dict[str, object], said: str) -> None:
    given = {"pack": "arena", "tier": Tier.HARD, "seed": 1, **chosen}
    scenario = make_scenario(**given)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=said):
        require_validation(episodes_of([scenario]), VALIDATION)


def test_the_reserve_and_validation_seeds_are_accepted() -> None:
    chosen = [
        make_scenario(pack="arena", split="reserve", tier="hard", seed=3),
        make_scenario(pack="arena", split="train", tier="hard", seed=2_000_007),
    ]
    require_validation(episodes_of(chosen), VALIDATION)


def suspecting(episode: Episode, policy: str) -> Episode:
    """The same episode, as a model that is surer than it is right would have judged it."""
    generator = np.random.default_rng(episode.scenario.seed)

    def said(agents: list[str]) -> dict[str, float]:
        leaning = {a: generator.normal(6 if a == episode.rogue else -4, 6) for a in agents}
        return {a: float(f"{sigmoid(2 * x):.6g}") for a, x in leaning.items()}

    turns = [
        turn._replace(
            decision=turn.decision._replace(suspicion=said(list(turn.decision.suspicion)))
        )
        if turn.role is Role.OVERSIGHT and turn.decision.suspicion
        else turn
        for turn in episode.turns
    ]
    return replace(episode, turns=turns, team=policy)


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("adapter")
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        (folder / name).write_text(name, encoding="utf-8")
    return folder


def record(folder: Path, adapter: Path, split: str, seeds: int, **status: object) -> Path:
    """An evaluation as it comes from a machine with a model."""
    policy = "oversight=local:smollm2+adapter=somewhere+format=menu,others=heuristic"
    chosen = scenarios(pack="arena", split=split, tiers=[Tier.HARD], seeds=seeds)
    team = load_team("heuristic")
    episodes = [suspecting(episode, policy) for episode in play_many(chosen, team)]
    told = {role.value: dict(team.status()) for role in Role}
    told["oversight"] = {
        "kind": "model",
        "policy": "local:smollm2+adapter=somewhere+format=menu",
        "adapter": f"adapter {adapter_identity(adapter)}",
        **status,
    }
    with Journal(folder / JOURNAL_NAME) as journal:
        results = results_of(
            policy, episodes, told, command="chaosops eval …", journal=journal, notes={}
        )
    save(results, folder)
    return folder


@pytest.fixture(scope="module")
def recorded(adapter: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("reserve"), adapter, "reserve", 90)


def test_an_adapter_gets_its_calibration(
    cli: Cli, recorded: Path, adapter: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "reliability.png"
    done = cli("calibrate", str(recorded), str(adapter), "--picture", str(picture))
    assert done.code == 0, done.err
    assert "90 episodes of reserve" in done.out
    assert "after, on unseen companies" in done.out
    assert picture.stat().st_size > 10_000
    content = json.loads((adapter / "calibration.json").read_text(encoding="utf-8"))
    line = read_calibration(adapter)
    assert line is not None
    assert (line.slope, line.intercept) == (content["slope"], content["intercept"])
    assert 0.1 < line.slope < 0.6
    origin = content["fitted_on"]
    assert (origin["splits"], origin["first_seed"], origin["last_seed"]) == (["reserve"], 0, 89)
    assert origin["packs"]["arena"]["version"] == "2"
    assert origin["command"] == "chaosops eval …"
    assert content["command"].startswith("chaosops calibrate")
    assert content["after"]["ece_turn_3"]["value"] < content["before"]["ece_turn_3"]["value"]
    (adapter / "calibration.json").unlink()


def test_results_of_another_adapter_are_refused(cli: Cli, recorded: Path, tmp_path: Path) -> None:
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        (tmp_path / name).write_text("other", encoding="utf-8")
    assert "0 policies of" in cli("calibrate", str(recorded), str(tmp_path)).refusal
    assert not (tmp_path / "calibration.json").exists()


@pytest.mark.parametrize(
    ("split", "status", "said"),
    [
        ("test", {}, "split test is for evaluation"),
        ("reserve", {"calibration": {"slope": 0.5, "intercept": 0.0}}, "calibrated already"),
    ],
)
def test_what_must_not_be_fitted_to_is_refused(
    cli: Cli, adapter: Path, tmp_path: Path, split: str, status: dict[str, object], said: str
) -> None:
    done = cli("calibrate", str(record(tmp_path, adapter, split, 2, **status)), str(adapter))
    assert done.code == 2
    assert said in done.err
    assert not (adapter / "calibration.json").exists()


def test_a_pack_without_a_reserve_is_fitted_on_validation_seeds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(type(load_pack("arena")), "reserve_split", "")
    played = episodes_of([make_scenario(pack="arena", tier="hard", seed=1)])
    with pytest.raises(BadInput, match=r"evaluation.*: play --split train --seed-start"):
        require_validation(played, VALIDATION)
