from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.evaluation.results import source_commit
from chaosops.training.bundle import bundle


def test_a_bundle_runs_where_it_is_unpacked(tmp_path: Path) -> None:
    base = tmp_path / "model"
    base.mkdir()
    (base / "weights.bin").write_bytes(bytes(range(256)) * 4000)
    recipe = tmp_path / "mine.toml"
    recipe.write_text("steps = 3\n", encoding="utf-8")
    files = bundle(tmp_path / "parts", recipes=[recipe], base=base, part_mb=0.05)
    parts = [path for path in files if path.name.startswith("part-")]
    assert len(parts) > 1
    assert all(path.stat().st_size <= 50_000 for path in parts)
    there = tmp_path / "there"
    subprocess.run(["sh", str(tmp_path / "parts/unpack.sh"), str(there)], check=True)
    assert (there / "base/model/weights.bin").read_bytes() == (base / "weights.bin").read_bytes()
    assert (there / "recipes/mine.toml").read_text() == "steps = 3\n"
    play = "import chaosops; print(chaosops.__file__)"
    assert (there / "src/chaosops/COMMIT").read_text() == source_commit()
    command = [sys.executable, "-c", play]
    found = subprocess.run(
        command, env={"PYTHONPATH": str(there / "src")}, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == str(there / "src/chaosops/__init__.py")
    assert not list(there.rglob("__pycache__/bundle*"))


def test_a_damaged_part_is_noticed(tmp_path: Path) -> None:
    files = bundle(tmp_path / "parts", part_mb=0.1)
    damaged = bytearray(files[0].read_bytes())
    damaged[1000] ^= 1
    files[0].write_bytes(damaged)
    unpack = ["sh", str(files[-1]), str(tmp_path / "there")]
    done = subprocess.run(unpack, capture_output=True, text=True)
    assert done.returncode != 0
    assert not (tmp_path / "there/src").exists()


def test_the_same_content_makes_the_same_bundle(tmp_path: Path) -> None:
    one, other = (bundle(tmp_path / name) for name in ("one", "other"))
    assert [p.read_bytes() for p in one] == [p.read_bytes() for p in other]


def test_what_cannot_be_bundled_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="none: it does not exist"):
        bundle(tmp_path / "a", base=tmp_path / "none")
    bundle(tmp_path / "b")
    with pytest.raises(BadInput, match="another bundle"):
        bundle(tmp_path / "b")
    with pytest.raises(BadInput, match="larger than nothing"):
        bundle(tmp_path / "c", part_mb=0)
