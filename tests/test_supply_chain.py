"""The lock file is all that the image installs, it can be audited offline, and it has an SBOM."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from chaosops.version import VERSION

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "supply_chain.py"
LOCK: dict[str, Any] = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
LOCKED = {package["name"]: package for package in LOCK["package"]}
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def script(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k != "CHAOSOPS_ADVISORIES"} | environment
    command = [sys.executable, "-W", "error", str(SCRIPT), *words]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)


def test_the_image_stands_on_a_digest() -> None:
    (base,) = re.findall(r"^ARG BASE=(\S+)$", DOCKERFILE, re.M)
    assert re.fullmatch(r"python:[\d.]+-slim@sha256:[0-9a-f]{64}", base)
    assert re.findall(r"^FROM (\S+)", DOCKERFILE, re.M) == ["${BASE}"]


def test_the_image_installs_nothing_that_is_not_locked() -> None:
    steps = re.split(r"^(?=[A-Z]+ )", DOCKERFILE.replace("\\\n", " "), flags=re.M)
    installs = [step for step in steps if re.search(r"\b(pip install|uv sync)\b", step)]
    assert len(installs) == 3
    uv, lock, package = installs
    assert "--require-hashes --no-deps -r scripts/uv.txt" in uv
    assert "uv sync --frozen" in lock
    assert "uv pip install --offline --no-deps --no-build-isolation ." in package


def test_what_builds_the_image_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [text for group in project["dependency-groups"].values() for text in group]
    backend = project["build-system"]["requires"]
    assert {text.partition("==")[0] for text in wanted} >= {*backend, "pip", "uv"}
    for text in wanted:
        name, _, version = text.partition("==")
        assert LOCKED[name]["version"] == version


def test_uv_is_installed_by_the_hashes_of_the_lock() -> None:
    text = (ROOT / "scripts" / "uv.txt").read_text(encoding="utf-8")
    package = LOCKED["uv"]
    hashes = {file["hash"] for file in (*package["wheels"], package["sdist"])}
    assert set(re.findall(r"--hash=(\S+)", text)) == hashes
    assert re.findall(r"^(\S+==\S+)", text, re.M) == [f"uv=={package['version']}"]


def advisory(name: str = "rich", **entry: Any) -> dict[str, Any]:
    affected = {"package": {"ecosystem": "PyPI", "name": name}, **entry}
    when = "2026-10-01T00:00:00Z"
    return {"id": "MADE-UP-1", "modified": when, "summary": "made up", "affected": [affected]}


def within(*events: dict[str, str]) -> dict[str, Any]:
    return {"ranges": [{"type": "ECOSYSTEM", "events": list(events)}]}


HERE = LOCKED["rich"]["version"]


@pytest.mark.parametrize(
    ("found", "applies"),
    [
        (advisory(versions=[HERE]), True),
        (advisory("RICH", versions=[HERE]), True),
        (advisory(versions=["0.1", "not a version"]), False),
        (advisory(**within({"introduced": "0"})), True),
        (advisory(**within({"introduced": "0"}, {"fixed": "1.0"})), False),
        (advisory(**within({"introduced": "0"}, {"fixed": HERE})), False),
        (advisory(**within({"introduced": "0"}, {"last_affected": HERE})), True),
        (advisory(**within({"introduced": HERE}, {"fixed": "9999"})), True),
        (advisory(**within({"fixed": "1.0"}, {"introduced": "0"}, {"introduced": "2.0"})), True),
        (advisory(**within({"introduced": "0"}, {"fixed": "next"})), True),  # cannot be judged
        (advisory(), True),  # names no versions
        (advisory(ranges=[{"type": "GIT", "events": [{"introduced": "0"}]}]), True),
        (advisory("no-such-package", versions=[HERE]), False),
        (advisory(versions=[HERE]) | {"withdrawn": "2026-10-02T00:00:00Z"}, False),
    ],
)
def test_an_advisory_is_held_against_the_lock(
    tmp_path: Path, found: dict[str, Any], applies: bool
) -> None:
    (tmp_path / "one.json").write_text(json.dumps(found))
    done = script("audit", CHAOSOPS_ADVISORIES=str(tmp_path))
    assert done.returncode == int(applies), done.stderr
    assert (f"rich {HERE}: MADE-UP-1 made up" in done.stdout) == applies
    assert ("none applies" in done.stdout) != applies
    assert "1 advisories, the newest of 2026-10-01" in done.stdout


def test_without_advisories_nothing_is_claimed() -> None:
    done = script("audit")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("NOT AUDITED: ")
    assert "CHAOSOPS_ADVISORIES" in done.stderr


@pytest.mark.parametrize("content", [None, "{", "[]", "{}", '{"affected": 3}', "[" * 50_000])
def test_advisories_that_cannot_be_used_are_an_error(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "a.json").write_text(content)
    done = script("audit", CHAOSOPS_ADVISORIES=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("cannot audit")
    assert len(done.stderr.splitlines()) == 1


def test_advisories_of_other_ecosystems_are_no_audit(tmp_path: Path) -> None:
    other = advisory(versions=[HERE])
    other["affected"][0]["package"]["ecosystem"] = "npm"
    (tmp_path / "a.json").write_text(json.dumps(other))
    done = script("audit", CHAOSOPS_ADVISORIES=str(tmp_path))
    assert done.returncode == 2
    assert "no advisory about PyPI" in done.stderr


def test_the_bill_of_materials_is_valid_complete_and_always_the_same(tmp_path: Path) -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    texts = []
    for seed in ("1", "2"):
        out = tmp_path / f"{seed}.json"
        done = script("sbom", "--out", str(out), PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
        texts.append(out.read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(texts[0]) is None
    bom = json.loads(texts[0])
    assert bom["metadata"]["component"]["version"] == VERSION
    parts = {(part["name"], part["version"]): part for part in bom["components"]}
    for package in LOCK["package"]:
        if "registry" in package["source"]:
            part = parts[package["name"], package["version"]]
            files = (*package.get("wheels", []), *filter(None, [package.get("sdist")]))
            hashes = {found["content"] for found in part["hashes"]}
            assert hashes == {file["hash"].removeprefix("sha256:") for file in files}
    models = [part for part in bom["components"] if part["type"] == "machine-learning-model"]
    assert len(models) == 2
    needs = {entry["ref"]: entry.get("dependsOn", []) for entry in bom["dependencies"]}
    assert any(ref.startswith("pygments@") for ref in needs[f"rich@{HERE}"])
