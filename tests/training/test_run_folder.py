"""A run's folder after an accident, and on another machine: one line, and nothing is lost."""

from __future__ import annotations

import json
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role, Tier
from chaosops.training.batches import Position, Windows, batch_stream
from chaosops.training.credited_turns import CreditedTurn
from chaosops.training.process_group import ProcessGroup
from chaosops.training.recipe import Recipe
from chaosops.training.run import _restore
from chaosops.training.run_folder import METRICS, PROCESSES, enter_folder, open_metrics

RECIPE = Recipe(name="a run", steps=3, window=2)


def enter(folder: Path, size: int, *, resume: bool) -> None:
    enter_folder(RECIPE, folder, resume=resume, holds_run=False, group=ProcessGroup(0, size))


@pytest.mark.parametrize(("began", "goes_on"), [(1, 2), (4, 1)])
def test_a_run_is_not_resumed_on_another_number_of_gpus(
    tmp_path: Path, began: int, goes_on: int
) -> None:
    enter(tmp_path, 1, resume=False)
    (tmp_path / PROCESSES).write_text(json.dumps({"processes": began}))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(
        BadInput, match=f"started with {began} GPUs or processes .* with {goes_on}: "
    ):
        enter(tmp_path, goes_on, resume=True)
    enter(tmp_path, began, resume=True)
    assert before == {path: path.read_bytes() for path in tmp_path.iterdir()}


def test_a_run_of_an_older_version_can_be_resumed(tmp_path: Path) -> None:
    enter(tmp_path, 1, resume=False)
    (tmp_path / PROCESSES).unlink()
    enter(tmp_path, 1, resume=True)


def test_a_checkpoint_beyond_its_window_is_an_error_not_a_crash() -> None:
    class Pool:
        def submit(self, *_: Any) -> Future[list[CreditedTurn]]:
            future: Future[list[CreditedTurn]] = Future()
            state = CreditedTurn(
                (), {"A": 1.0, "B": 0.0}, Role.SRE, "arena", Tier.EASY, prompt=[1, 2]
            )
            future.set_result([state])
            return future

    pool, beyond = cast("Any", Pool()), Position(step=1, batch=5)
    with pytest.raises(BadInput, match="as many processes"):
        list(batch_stream(Windows(RECIPE, pool), None, beyond))


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"processes": "two"}', "[" * 60_000])
def test_a_damaged_note_of_the_processes_is_one_line(tmp_path: Path, content: str) -> None:
    enter(tmp_path, 1, resume=False)
    (tmp_path / PROCESSES).write_text(content)
    with pytest.raises(BadInput):
        enter(tmp_path, 1, resume=True)


@pytest.mark.parametrize("row", ["{", "[]", "{}", '{"step": null}', "7"])
def test_damaged_metrics_are_named_by_their_line(tmp_path: Path, row: str) -> None:
    path = tmp_path / METRICS
    path.write_text('{"step": 1}\n' + row + '\n{"step": 2}\n')
    before = path.read_bytes()
    with pytest.raises(BadInput, match=f"{METRICS}:2 is not a row"):
        open_metrics(path, 2)
    assert path.read_bytes() == before


def test_a_torn_last_row_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / METRICS
    path.write_text('{"step": 1}\n{"st')
    open_metrics(path, 2)
    assert path.read_text() == '{"step": 1}\n'


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04", b"\x80\x02K\x01."])
def test_a_damaged_checkpoint_is_one_line(tmp_path: Path, content: bytes) -> None:
    import torch

    class Learner:
        device = "cpu"

        def restore(self, kept: Any) -> None:
            kept["weights"]["a"]

    path = tmp_path / "checkpoint.pt"
    path.write_bytes(content)
    with pytest.raises(BadInput, match="is not a checkpoint of this run") as told:
        _restore(torch, cast("Any", Learner()), path)
    assert len(str(told.value).splitlines()) == 1


def test_another_recipe_is_another_run(tmp_path: Path) -> None:
    enter(tmp_path, 1, resume=False)
    other = replace(RECIPE, steps=4)
    with pytest.raises(BadInput, match="another recipe"):
        enter_folder(other, tmp_path, resume=True, holds_run=True, group=ProcessGroup())
