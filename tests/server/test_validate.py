"""OpenEnv's own validators, on the folder and on the running server."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from openenv.cli._validation import validate_multi_mode_deployment, validate_running_environment
from openenv.validation import Verdict, run_validation
from openenv.validation.graders import Subject
from openenv.validation.graders.runtime import (
    ObservationSchemaGrader,
    RewardWellFormedGrader,
    StateContractGrader,
)
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.runtime.collector import collect_runtime_evidence
from openenv.validation.runtime.contracts import RuntimePlan
from openenv.validation.types import CheckStatus

from chaosops.version import VERSION
from tests.server.conftest import Running
from tests.server.test_environment import ROOT

PARTS = ("openenv.yaml", "pyproject.toml", "uv.lock", "Dockerfile")

PLAN: dict[str, Any] = {
    "plan_schema_version": "1",
    "reset": {
        "episode_id": "validated",
        "seed": 42,
        "options": {"scenario": "autoscaler_cost_cut"},
    },
    "actions": [
        {"action": "identify_root_cause", "failure_type": "autoscaler_cost_cut"},
        {"reply": "I am not sure yet"},
        {"action": "restart", "target": "payments"},
        {"action": "noop"},
        {"action": "communicate", "message": "who scaled payments down?", "to": "oversight"},
        {"action": "flag_rogue", "target": "autoscaler", "confidence": 0.9},
        {"action": "scale", "target": "payments", "replicas": 4},
    ],
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """What the validator reads. The whole folder would change under it while tests run."""
    for name in PARTS:
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "server", tmp_path / "server", ignore=shutil.ignore_patterns("__py*"))
    return tmp_path


def test_the_folder_is_a_valid_package(package: Path) -> None:
    """Checks of a running container need Docker and ``validation.execution``; they are skipped,
    which the validator reports as a warning and exits with 0."""
    report = run_validation(package)
    assert report.verdict is not Verdict.FAIL
    outcomes = {result.check_id: result.status for result in report.results}
    assert outcomes["static.manifest"] is CheckStatus.PASS
    assert set(outcomes.values()) == {CheckStatus.PASS, CheckStatus.SKIP}
    assert validate_multi_mode_deployment(package) == (True, [])


def test_the_running_server_passes_every_check(served: Running) -> None:
    report = validate_running_environment(served.url)
    assert report["passed"], report
    assert report["summary"]["passed_count"] == report["summary"]["total_count"] == 6
    assert report["mode"] == "simulation"


@pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")  # by OpenEnv
@pytest.mark.parametrize(
    "grader", [RewardWellFormedGrader(), ObservationSchemaGrader(), StateContractGrader()]
)
def test_the_checks_of_a_container_hold_for_the_server(
    served: Running, package: Path, grader: Any
) -> None:
    """The same measurement that the validator makes in Docker, on the server started here."""
    evidence = collect_runtime_evidence(
        served.url, RuntimePlan.model_validate(PLAN), episode_timeout_s=60
    )
    assert evidence.failure_reason is None
    assert len(evidence.exchanges) == 2 + 2 * len(PLAN["actions"])
    manifest = OpenEnvYamlParser().parse(package)
    subject = Subject(package, manifest, None, None, package, runtime_evidence=evidence)
    result = grader.run(subject)
    assert result.status is CheckStatus.PASS, result.evidence


def test_the_files_agree_with_each_other() -> None:
    manifest = yaml.safe_load((ROOT / "openenv.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert manifest["version"] == VERSION
    pinned = [text for text in project["optional-dependencies"]["server"] if "openenv" in text]
    assert pinned == ["openenv==0.10.0"]
    assert pinned[0] in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    versions = {package["name"]: package.get("version") for package in lock["package"]}
    assert versions["openenv"] == "0.10.0"


def test_the_lock_file_names_public_places_only() -> None:
    text = (ROOT / "uv.lock").read_text(encoding="utf-8")
    hosts = {part.split("/")[0] for part in text.split("://")[1:]}
    assert {host.split('"')[0] for host in hosts} == {"pypi.org", "files.pythonhosted.org"}
    assert "file:" not in text
