"""``scripts/bundle.sh`` packs what another machine can unpack and run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chaosops.core.source import source_commit

SCRIPT = Path(__file__).parents[2] / "scripts/bundle.sh"


def pack(out: Path, *paths: Path, part_mb: str = "1") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(SCRIPT), str(out), *map(str, paths)],
        capture_output=True,
        text=True,
        env={**os.environ, "PART_MB": part_mb},
    )


def unpack(parts: Path, there: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(parts / "unpack.sh"), str(there)], capture_output=True, text=True
    )


def test_a_bundle_runs_where_it_is_unpacked(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "weights.bin").write_bytes(os.urandom(2_000_000))
    there = tmp_path / "there"
    assert pack(tmp_path / "parts", model).returncode == 0
    sizes = [path.stat().st_size for path in sorted((tmp_path / "parts").glob("part-*"))]
    assert len(sizes) > 1
    assert max(sizes) <= 1_000_000
    assert unpack(tmp_path / "parts", there).returncode == 0
    assert (there / "model/weights.bin").read_bytes() == (model / "weights.bin").read_bytes()
    assert (there / "src/chaosops/COMMIT").read_text() == source_commit()
    assert not list(there.rglob("__pycache__"))
    play = [sys.executable, "-c", "import chaosops; print(chaosops.__file__)"]
    env = {"PYTHONPATH": str(there / "src")}
    found = subprocess.run(play, env=env, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(there / "src/chaosops/__init__.py")


def test_a_damaged_part_is_noticed(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    pack(parts)
    damaged = bytearray((parts / "part-000").read_bytes())
    damaged[1000] ^= 1
    (parts / "part-000").write_bytes(damaged)
    assert unpack(parts, tmp_path / "there").returncode != 0
    assert not (tmp_path / "there/src").exists()


def test_the_same_content_makes_the_same_bundle(tmp_path: Path) -> None:
    for name in ("one", "other"):
        pack(tmp_path / name)
    one, other = ((tmp_path / name / "part-000").read_bytes() for name in ("one", "other"))
    assert one == other


@pytest.mark.parametrize(
    ("paths", "part_mb", "said"),
    [(["none"], "1", "none: it does not exist"), ([], "0", "a whole number above 0")],
)
def test_what_cannot_be_bundled_is_named(
    tmp_path: Path, paths: list[str], part_mb: str, said: str
) -> None:
    done = pack(tmp_path / "out", *(tmp_path / path for path in paths), part_mb=part_mb)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    assert "is not empty" in pack(tmp_path).stderr
