"""What is released: a wheel that works outside the repository, and a site without dead links."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import chaosops
from chaosops.cli.commands.demo import first_with_rogue
from chaosops.version import VERSION

ROOT = Path(__file__).parents[1]
MEGABYTE = 10**6


def run(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        # The tests share the cores: a model must not use all of them.
        env={"CHAOSOPS_THREADS": "1", **os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run("-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT), cwd=folder)
    return folder


@pytest.fixture(scope="module")
def installed(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files in a folder of their own; what it depends on is here already."""
    (wheel,) = dist.glob("*.whl")
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_the_wheel_is_small_and_holds_the_package_alone(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    assert wheel.name == f"chaosops-{VERSION}-py3-none-any.whl"
    assert wheel.stat().st_size < 20 * MEGABYTE
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {
        "chaosops",
        f"chaosops-{VERSION}.dist-info",
    }


def test_the_source_archive_holds_what_is_tested(dist: Path) -> None:
    (source,) = dist.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "tests/conftest.py", "Makefile"} <= names


def test_the_demo_of_the_wheel_runs_anywhere(installed: Path, tmp_path: Path) -> None:
    def python(*words: str) -> str:
        return run("-P", *words, cwd=tmp_path, PYTHONPATH=str(installed)).stdout

    where = python("-c", "import chaosops; print(chaosops.__file__)")
    assert Path(where.strip()).is_relative_to(installed)
    assert VERSION in python("-m", "chaosops", "--version")
    shown = python("-m", "chaosops", "demo", "--out", "demo")
    assert "random against trained" in shown
    assert f"Seed {first_with_rogue().seed} of split test, tier hard: the first one" in shown
    assert re.search(r"trained is smollm2 with adapter sha256:.*: \d+ replies, ", shown)
    # Whether it catches the rogue is a result, which the demo does not choose.
    assert shown.index("trained: ") < shown.index("| policy") < shown.index("rogue_vs_mttr.png")
    table = shown[shown.index("The published matrix") :]
    assert table.index("\n| oracle") < table.index("\n| trained") < table.index("that ships")
    assert "| trained" not in (tmp_path / "demo/table.md").read_text()
    told = (tmp_path / "demo/trained_episode.html").read_text()
    assert "oversight" in told
    assert "charter" in told.lower()
    assert (tmp_path / "demo/comparison_curve.png").exists()


def test_links_and_examples_are_rewritten_for_the_site(tmp_path: Path) -> None:
    run("-m", "doctest", str(ROOT / "scripts" / "docs_site.py"), cwd=tmp_path)


def test_the_site_builds_without_a_dead_link(tmp_path: Path) -> None:
    run(
        "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site"),
        cwd=ROOT, NO_MKDOCS_2_WARNING="1",
    )  # fmt: skip
    front = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert front.index("for_trainers/") < front.index("arena/")
    api = (tmp_path / "site" / "api" / "index.html").read_text(encoding="utf-8")
    assert all(f'id="chaosops.{name}"' in api for name in chaosops.__all__)
