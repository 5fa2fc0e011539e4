"""A file option replaces a plain file or nothing: no device, no link, not its own input."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.files import write_text
from chaosops.training.recipe_files import find_recipe
from tests.conftest import Outcome

Cli = Callable[..., Outcome]


@pytest.fixture
def recording(cli: Cli, tmp_path: Path) -> Path:
    path = tmp_path / "one.json"
    assert cli("run", "--scenario", "db_deadlock", "--record", str(path))[0] == 0
    return path


OPTIONS: dict[str, list[str]] = {
    "--record": ["run", "--scenario", "db_deadlock"],
    "--markdown": ["replay", "RECORDING"],
    "--html": ["replay", "RECORDING"],
    "--otlp": ["replay", "RECORDING"],
    "--picture": ["arena", "show"],
    "--received": ["seat", "--url", "http://127.0.0.1:9", "--token", "x", "--policy", "heuristic"],
}


@pytest.mark.parametrize("option", OPTIONS)
def test_devices_links_and_folders_stay(
    cli: Cli, tmp_path: Path, recording: Path, option: str
) -> None:
    pipe, link, dangling = tmp_path / "pipe", tmp_path / "link", tmp_path / "dangling"
    os.mkfifo(pipe)
    precious = tmp_path / "precious"
    precious.write_text("mine")
    link.symlink_to(precious)
    dangling.symlink_to(tmp_path / "nothing")
    before = sorted(tmp_path.iterdir())
    for path, reason in (
        (Path("/dev/null"), "it is a device or a pipe"),
        (pipe, "it is a device or a pipe"),
        (link, f"it is a link to {precious}"),
        (dangling, "it is a link to"),
        (tmp_path, "it is a folder"),
    ):
        words = [str(recording) if word == "RECORDING" else word for word in OPTIONS[option]]
        code, out, err = cli(*words, option, str(path))
        assert (code, out) == (2, ""), err
        assert f"cannot write {path}: {reason}" in err
        assert f"choose another {option}" in err
    assert Path("/dev/null").is_char_device()
    assert precious.read_text() == "mine"
    assert sorted(tmp_path.iterdir()) == before


def test_a_command_keeps_its_own_input(cli: Cli, tmp_path: Path, recording: Path) -> None:
    before = recording.read_bytes()
    same = tmp_path / "." / "down" / ".." / "one.json"
    same.parent.parent.mkdir()
    page = str(tmp_path / "page")
    run = ["run", "--scenario", "db_deadlock", "--policy", str(recording)]
    for words in (
        ["replay", str(recording), "--html", str(recording)],
        ["replay", str(recording), "--markdown", str(same)],
        ["replay", str(recording), "--markdown", page, "--html", page],
        ["replay", str(recording), "--html", page, "--otlp", page],
        ["run", "--record", page, "--otlp", page],
        [*run, "--record", str(recording)],
    ):
        assert "this command uses it already; choose another" in cli(*words).refusal
    hard = tmp_path / "hard.json"
    os.link(recording, hard)
    refusal = cli("replay", str(recording), "--html", str(hard)).refusal
    assert "this command uses it already; choose another --html" in refusal
    assert recording.read_bytes() == before
    assert not Path(page).exists()


def test_a_recipe_is_not_overwritten_by_its_run(cli: Cli, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("# mine\n" + find_recipe("smoke").read_text())
    refusal = cli("train", str(recipe), "--out", str(tmp_path), "--no-figures").refusal
    assert "would be overwritten by its own run" in refusal
    assert recipe.read_text().startswith("# mine")


def test_a_link_in_place_of_the_partial_file_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "a.json.partial").symlink_to(precious)
    write_text(tmp_path / "a.json", "new")
    assert precious.read_text() == "mine"
    assert (tmp_path / "a.json").read_text() == "new"
    assert not (tmp_path / "a.json").is_symlink()
    (tmp_path / "b.json").symlink_to(precious)
    with pytest.raises(BadInput, match="it is a link to"):
        write_text(tmp_path / "b.json", "new")
    assert precious.read_text() == "mine"
