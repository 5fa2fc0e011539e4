"""The worked example, a package in somebody's own repository: installed, and used by its names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extending.checkout import ROOT

BAKERY = ROOT / "examples" / "bakery"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip installed the example, without a network."""
    folder = tmp_path_factory.mktemp("bakery") / "site"
    offline = ("--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", *offline]
    subprocess.run([*pip, "--target", str(folder), str(BAKERY)], check=True, timeout=120)
    return folder


def chaosops(site: Path, *words: str, code: int = 0) -> str:
    path = os.pathsep.join((str(ROOT / "src"), str(site)))
    done = subprocess.run(
        [sys.executable, "-m", "chaosops", *words],
        env={**os.environ, "PYTHONPATH": path},
        cwd=site,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def python(site: Path, code: str) -> str:
    path = os.pathsep.join((str(ROOT / "src"), str(site)))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_it_is_listed_and_checked(site: Path) -> None:
    listed = chaosops(site, "list")
    assert "pack bakery 1 (" in listed
    assert "of chaosops-bakery: bakery.bakers:bake" in listed
    assert "thrifty_thermostat" in chaosops(site, "run", "--help")
    checked = chaosops(site, "check", "--pack", "bakery")
    assert checked.count("5 of 5 clauses hold") == 2
    assert "BROKEN" not in checked


def test_it_is_evaluated_and_verified(site: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    team = "oversight=last_hand,others=bakers"
    words = ("--pack", "bakery", "--seeds", "2", "--no-figures", "--out", out)
    table = chaosops(site, "eval", *words, "--policies", "bakers,oracle", "--team", team)
    assert f"| {team}" in table
    manifest = json.loads((tmp_path / "out" / "results.json").read_text())["manifest"]
    assert manifest["policies"]["bakers"]["kind"] == "own"
    assert len(manifest["packs"]["bakery"]["hash"]) == 16
    verified = chaosops(site, "verify", out)
    assert "nothing was changed" in verified
    assert verified.count("is not part of chaosops") == 2
    asked = chaosops(site, "verify", out, "--own-policies")
    assert "nothing was changed" in asked
    assert "note" not in asked


def test_without_the_package_its_results_say_what_is_missing(site: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    words = ("--seeds", "1", "--tiers", "easy", "--no-figures", "--out")
    played = str(tmp_path / "played")
    team = ("--team", "sre=bakers,others=random")
    chaosops(site, "eval", "--pack", "classic", *team, *words, played)
    told = chaosops(nowhere, "verify", played, "--own-policies")
    assert "was not asked again: unknown policy 'bakers'" in told
    assert "nothing was changed" in told
    baked = str(tmp_path / "baked")
    chaosops(site, "eval", "--pack", "bakery", "--policies", "oracle", *words, baked)
    told = chaosops(nowhere, "verify", baked, code=1)
    assert "cannot be played: the recording's scenario cannot be played: unknown pack" in told
    assert "note: pack bakery is not installed: install the package that brings it" in told


def test_it_is_served_and_shown(site: Path) -> None:
    pytest.importorskip("openenv")
    found = python(site, """
from chaosops.server.environment import ChaosOpsEnvironment
from chaosops.web.choices import catalogue
from chaosops.web.policy_cache import PolicyCache
env = ChaosOpsEnvironment()
seen = env.reset(pack="bakery", scenario="cold_oven", seed=1)
print(seen.role, env.state.pack, *(pack["name"] for pack in catalogue()["packs"]))
print([state["words"] for state in PolicyCache().states() if state["name"] == "bakers"])
""")  # fmt: skip
    assert found.splitlines() == [
        "sre bakery classic arena rehearsal bakery",
        "['of chaosops-bakery']",
    ]


def test_the_hash_of_a_pack_follows_its_code(site: Path, tmp_path: Path) -> None:
    code = "from chaosops import load_pack; print(load_pack('bakery').content_hash())"
    before = python(site, code)
    place = site / "bakery" / "pack.py"
    text = place.read_text()
    place.write_text(text.replace("Tier.HARD: 12", "Tier.HARD: 13"))
    try:
        assert python(site, code) != before
    finally:
        place.write_text(text)


def declared(site: Path, package: str, group: str, name: str, value: str) -> None:
    """A second package, which brings something along."""
    info = site / f"{package}-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")


def test_a_broken_pack_stops_only_itself(tmp_path: Path) -> None:
    (tmp_path / "ruin.py").write_text("import flour_that_is_gone\n")
    declared(tmp_path, "ruins", "chaosops.packs", "ruin", "ruin:PACK")
    why = "No module named 'flour_that_is_gone'"
    assert why in chaosops(tmp_path, "list")
    assert "RESOLVED" in chaosops(tmp_path, "run", "--scenario", "db_deadlock")
    told = chaosops(tmp_path, "run", "--pack", "ruin", code=2)
    assert "pack ruin of package ruins: cannot import ruin: ModuleNotFoundError" in told
    assert "Traceback" not in told


def test_what_is_no_pack_says_so(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text("PACK = 3\n")
    declared(tmp_path, "odds", "chaosops.packs", "odd", "odd:PACK")
    told = chaosops(tmp_path, "run", "--pack", "odd", code=2)
    assert "pack odd must be an instance of chaosops.world.incident.Pack" in told


def test_names_that_clash_are_told(tmp_path: Path) -> None:
    (tmp_path / "clash.py").write_text(
        "from chaosops.core.actions import Noop\ndef f(view):\n    return Noop()\n"
    )
    declared(tmp_path, "one", "chaosops.policies", "heuristic", "clash:f")
    declared(tmp_path, "two", "chaosops.policies", "calm", "clash:f")
    declared(tmp_path, "three", "chaosops.policies", "calm", "clash:g")
    assert "policy heuristic of one (clash:f) is not used" in chaosops(tmp_path, "list")
    told = chaosops(tmp_path, "run", "--policy", "calm", code=2)
    assert "policy calm is brought by two (clash:f) and three (clash:g); uninstall one" in told
    kind = "from chaosops import load_policy; print(load_policy('heuristic').status()['kind'])"
    assert python(tmp_path, kind) == "scripted"
