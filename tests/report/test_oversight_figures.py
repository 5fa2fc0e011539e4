from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Tier
from chaosops.evaluation.cases import Case
from chaosops.evaluation.estimates import NOTHING, share_figure
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.evasions import EVASIONS, Tally, by_evasion, evasion_of
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.results import save
from chaosops.packs import make_scenario
from chaosops.report import figures
from chaosops.report.oversight_figures import Overseer, evasion_figure, split_roc
from chaosops.trained import trained_adapter
from tests.conftest import Outcome
from tests.evaluation.test_monitor import case, random_cases

Cli = Callable[..., Outcome]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    seen: list[Any] = []
    save = figures.save_figure

    def keep(figure: Any, path: Path) -> Path:
        seen.append(figure)
        return save(figure, path)

    monkeypatch.setattr(figures, "save_figure", keep)
    return seen


def ten() -> list[Case]:
    """Five rogue episodes and five benign ones. The highest suspicion of all is benign."""
    said = [0.8, 0.8, 0.6, 0.5, 0.1, 0.9, 0.6, 0.2, 0.1, 0.0]
    return [
        case(i, "a" if i < 5 else None, suspicion={"a": p}, flagged=("a",) if p > 0.55 else ())
        for i, p in enumerate(said)
    ]


def test_a_roc_is_a_staircase_and_flags_are_a_point(drawn: list[Any], tmp_path: Path) -> None:
    split_roc({"test": [Overseer("model", ten(), True)]}, tmp_path / "x.png")
    (axis,) = drawn[0].axes
    assert axis.get_xscale() == "log"
    rate, curve, flags = axis.get_lines()
    assert set(rate.get_xdata()) == {0.01}
    zero = axis.get_xticks()[0]
    assert zero < 0.1  # of five benign episodes the smallest rate is 20 %
    assert axis.get_xticklabels()[0].get_text() == "0"
    assert curve.get_drawstyle() == "steps-post"
    assert curve.get_xydata()[:4].tolist() == [[zero, 0], [0.2, 0], [0.2, 40], [0.4, 60]]
    assert flags.get_xydata().tolist() == [[0.4, 60]]


def test_a_script_is_a_point_and_one_that_never_flags_is_at_zero(
    drawn: list[Any], tmp_path: Path
) -> None:
    silent = [each._replace(flagged=()) for each in ten()]
    split_roc({"test": [Overseer("auditor", silent, False)]}, tmp_path / "x.png")
    (axis,) = drawn[0].axes
    _, point = axis.get_lines()
    assert point.get_xydata().tolist() == [[axis.get_xticks()[0], 0.0]]


def test_every_split_has_its_place_and_a_policy_its_colour(
    drawn: list[Any], tmp_path: Path
) -> None:
    splits = {
        "test": [Overseer("model", ten(), True), Overseer("heuristic", ten(), False)],
        "benign": [Overseer("model", ten()[5:], True)],  # nobody to catch: left out
        **{f"ood_{i}": [Overseer("heuristic", ten(), False)] for i in range(4)},
    }
    split_roc(splits, tmp_path / "x.png")
    shown = [axis for axis in drawn[0].axes if axis.get_visible()]
    titles = [axis.get_title(loc="left").partition(",")[0] for axis in shown]
    assert titles == ["test", "ood_0", "ood_1", "ood_2", "ood_3"]
    colours = {
        line.get_color()
        for axis in shown
        for line in axis.get_lines()
        if line.get_label() == "heuristic"
    }
    assert len(colours) == 1
    (legend,) = drawn[0].legends
    assert [text.get_text() for text in legend.get_texts()] == ["model", "heuristic"]


def test_the_interval_stands_at_its_rate_where_there_is_one(
    drawn: list[Any], tmp_path: Path
) -> None:
    split_roc({"test": [Overseer("model", random_cases(500, skill=3.0), True)]}, tmp_path / "x.png")
    bars = [line for line in drawn[0].axes[0].get_lines() if line.get_linewidth() == 3.5]
    assert [set(bar.get_xdata()) for bar in bars] == [{0.01}]  # too few benign ones for 0.1 %


def test_without_both_classes_there_is_no_roc(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no ROC to draw"):
        split_roc({"test": [Overseer("model", ten()[:5], True)]}, tmp_path / "x.png")


def test_evasions_have_a_row_each(drawn: list[Any], tmp_path: Path) -> None:
    def tally(hits: int) -> Tally:
        share = share_figure([i < hits for i in range(20)])
        return Tally(20, share, share_figure([i < 1 for i in range(20)]))

    benign = tally(0)._replace(caught=NOTHING)
    tallies = {"a": {0: tally(20), 3: tally(5), None: benign}, "b": {0: tally(0), None: benign}}
    evasion_figure(tallies, tmp_path / "x.png")
    caught, wronged = drawn[0].axes
    labels = [label.get_text() for label in caught.get_yticklabels()]
    assert labels == ["in sight (20)", "frames another (20)", "no rogue (20)"]
    (a, _, (low, *_)), _ = caught.containers
    assert a.get_xdata().tolist() == [100.0, 25.0]  # benign episodes have no rogue to catch
    assert len(wronged.containers[0][0].get_xdata()) == 3
    left = low.get_segments()[1][0][0]
    assert left == pytest.approx(100 * share_figure([i < 5 for i in range(20)])["ci95"][0])
    with pytest.raises(BadInput, match="no episode to draw"):
        evasion_figure({"a": {}}, tmp_path / "y.png")


def test_every_evasion_of_the_arena_has_a_name() -> None:
    found = {
        evasion_of(scenario)
        for split in ("test", "ood_rogue")
        for scenario in scenarios(pack="arena", split=split, tiers=[Tier.HARD], seeds=60)
    }
    assert found == set(EVASIONS)
    with pytest.raises(BadInput, match="pack classic has no evasions"):
        evasion_of(make_scenario("cascade"))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluation")
    chosen = scenarios(pack="arena", split="test", tiers=[Tier.EASY, Tier.HARD], seeds=8)
    save(evaluate(["auditor", "heuristic"], chosen, command="chaosops eval"), folder)
    return folder


def test_tallies_count_every_episode_once() -> None:
    chosen = scenarios(pack="arena", split="test", tiers=[Tier.HARD], seeds=12)
    (episodes,) = evaluate(["oracle"], chosen).episodes.values()
    tallies = by_evasion(episodes)
    assert sum(tally.episodes for tally in tallies.values()) == 12
    for kind, tally in tallies.items():
        assert tally.caught["value"] == (None if kind is None else 1.0)
        assert tally.wronged["value"] == 0.0


def test_evaluations_are_drawn_by_command(cli: Cli, played: Path, tmp_path: Path) -> None:
    for name in ("roc", "evasions"):
        out = tmp_path / f"{name}.png"
        done = cli("draw", name, str(played), "--out", str(out))
        assert (done.code, done.out) == (0, f"written: {out}\n"), done.err
        assert out.read_bytes().startswith(b"\x89PNG")
    assert (
        "did you mean 'auditor'"
        in cli(
            "draw", "roc", str(played / "results.json"), "--policies", "auditer", "--out", str(out)
        ).err
    )
    assert "name at least one folder" in cli("draw", "evasions").refusal


def test_the_adapter_that_ships_is_called_trained(
    cli: Cli, drawn: list[Any], tmp_path: Path
) -> None:
    """It was evaluated before it shipped, by its path."""
    shipped = trained_adapter().parent / "evaluations/arena_test"
    done = cli(
        "draw", "roc", str(shipped), "--policies", "trained", "--out", str(tmp_path / "x.png")
    )
    assert done.code == 0, done.err
    (legend,) = drawn[0].legends
    assert [text.get_text() for text in legend.get_texts()] == ["trained"]
