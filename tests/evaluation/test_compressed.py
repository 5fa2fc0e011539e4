"""Results may be stored compressed; everything that reads them reads both."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.core.inputs import read_bytes
from chaosops.evaluation.stored import read_results
from chaosops.web.evaluations import Folder, read_evaluation
from tests.evaluation.test_verify import Cli


@pytest.fixture
def folder(cli: Cli, tmp_path: Path) -> Path:
    words = ("--seeds", "1", "--tiers", "easy", "--policies", "oracle", "--no-figures")
    assert cli("eval", "--pack", "arena", *words, "--out", str(tmp_path / "out")).code == 0
    return tmp_path / "out"


def compress(folder: Path) -> bytes:
    plain = folder / "results.json"
    content = plain.read_bytes()
    (folder / "results.json.xz").write_bytes(lzma.compress(content))
    plain.unlink()
    return content


def test_compressed_results_are_read_like_plain_ones(cli: Cli, folder: Path) -> None:
    before = read_results(folder), read_evaluation(Folder("key", "title", folder))
    table = (folder / "table.md").read_bytes()
    content = compress(folder)
    assert (read_results(folder), read_evaluation(Folder("key", "title", folder))) == before
    assert read_bytes(folder / "results.json.xz", "results") == content
    for place in (folder, folder / "results.json.xz"):
        code, out, _ = cli("verify", str(place))
        assert (code, "nothing was changed" in out) == (0, True)
    assert cli("recount", str(folder), "--no-figures").code == 0
    assert (folder / "table.md").read_bytes() == table


def test_they_are_results_that_eval_does_not_replace(cli: Cli, folder: Path) -> None:
    compress(folder)
    words = ("eval", "--seeds", "1", "--policies", "oracle", "--no-figures", "--out", str(folder))
    refused = cli(*words)
    assert (refused.code, "results.json.xz" in refused.err) == (2, True)
    assert cli(*words, "--force").code == 0
    assert not (folder / "results.json.xz").exists()


def test_two_files_with_results_are_refused(cli: Cli, folder: Path) -> None:
    compress(folder)
    (folder / "results.json").write_text("{}")
    refused = cli("verify", str(folder))
    assert (refused.code, "remove one of them" in refused.err) == (2, True)


def bomb() -> bytes:
    return lzma.compress(bytes(2**28 + 1), preset=1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: b"{} is plain text", "it is not an xz file"),
        (bomb, "it expands to more than 256 MiB"),
        (lambda: lzma.compress(b"{}")[:-4], "it is not one whole xz stream"),
        (lambda: lzma.compress(b"{}") + b"more", "it is not one whole xz stream"),
    ],
)
def test_a_file_that_is_no_honest_archive_is_one_clear_line(
    tmp_path: Path, make: Callable[[], bytes], words: str
) -> None:
    (tmp_path / "results.json.xz").write_bytes(make())
    with pytest.raises(BadInput, match=words) as refused:
        read_results(tmp_path)
    assert "\n" not in str(refused.value)
