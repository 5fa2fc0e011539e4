from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chaosops.core.errors import BadInput
from chaosops.report import figures
from chaosops.report.figures import Curves, calibration_figure, roc_figure

Draw = Callable[[Curves, Path], Path]
both = pytest.mark.parametrize("draw", [roc_figure, calibration_figure])


def curves(policies: int = 2) -> Curves:
    generator = np.random.default_rng(policies)
    drawn = {}
    for i in range(policies):
        said = generator.random(200)
        drawn[f"policy{i}"] = (said.tolist(), (generator.random(200) < said).tolist())
    return drawn


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures as matplotlib knows them, looked at on their way into the file."""
    seen: list[Any] = []
    save = figures.save_figure

    def keep(figure: Any, path: Path) -> Path:
        seen.append(figure)
        return save(figure, path)

    monkeypatch.setattr(figures, "save_figure", keep)
    return seen


@both
def test_equal_curves_draw_equal_pictures(draw: Draw, tmp_path: Path) -> None:
    paths = [draw(curves(3), tmp_path / f"{i}.png") for i in range(2)]
    assert paths == [tmp_path / "0.png", tmp_path / "1.png"]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    other = draw(curves(2), tmp_path / "other.png")
    assert other.read_bytes() != paths[0].read_bytes()


@pytest.mark.parametrize(
    ("draw", "labels"),
    [
        (roc_figure, ["chance", "good  0.750", "mute  not defined"]),
        (calibration_figure, ["calibrated", "good  0.325", "mute  not defined"]),
    ],
)
def test_the_legend_has_the_numbers(
    draw: Draw, labels: list[str], drawn: list[Any], tmp_path: Path
) -> None:
    good = ([0.1, 0.4, 0.35, 0.85], [False, False, True, True])
    draw({"good": good, "mute": ([], [])}, tmp_path / "x.png")
    (legend,) = drawn[0].legends
    assert [text.get_text() for text in legend.get_texts()] == labels


def test_the_roc_runs_through_its_points(drawn: list[Any], tmp_path: Path) -> None:
    roc_figure({"p": ([0.9, 0.4, 0.4, 0.1], [True, True, False, False])}, tmp_path / "x.png")
    chance, curve = drawn[0].axes[0].get_lines()
    assert chance.get_xydata().tolist() == [[0, 0], [1, 1]]
    assert curve.get_xydata().tolist() == [[0, 0], [0, 0.5], [0.5, 1], [1, 1]]


def test_a_fuller_bin_has_a_larger_halo(drawn: list[Any], tmp_path: Path) -> None:
    said, was = [0.0] * 6 + [0.75] * 2, [False] * 6 + [True, False]
    calibration_figure({"p": (said, was)}, tmp_path / "x.png")
    axis = drawn[0].axes[0]
    assert axis.get_lines()[1].get_xydata().tolist() == [[0, 0], [0.75, 0.5]]
    full, sparse = axis.collections[0].get_sizes()
    assert full == pytest.approx(3 * sparse)


@both
def test_the_picture_is_square(draw: Draw, drawn: list[Any], tmp_path: Path) -> None:
    draw(curves(), tmp_path / "x.png")
    box = drawn[0].axes[0].get_window_extent()
    assert box.width == pytest.approx(box.height)
    assert box.width > 400


@both
def test_more_policies_than_colours_can_be_drawn(
    draw: Draw, drawn: list[Any], tmp_path: Path
) -> None:
    draw(curves(9), tmp_path / "x.png")
    assert len(drawn[0].axes[0].get_lines()) == 1 + 9


@both
def test_what_cannot_be_judged_is_refused(draw: Draw, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="2 scores for 1 labels"):
        draw({"p": ([0.1, 0.2], [True])}, tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()
