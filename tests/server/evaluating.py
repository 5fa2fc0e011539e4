"""A private split on loopback: its secret, its submissions, and a server in evaluation mode."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from chaosops.cli import main
from chaosops.core.scenario import Scenario
from chaosops.evaluation.secret import Secret, create_secret, read_secret
from chaosops.evaluation.submission import read_submission
from chaosops.policies.registry import load_policy
from chaosops.server.evaluation_mode import EvaluationEnvironment, Submissions
from tests.server.talk import Line


class PrivateSplit(NamedTuple):
    secret_file: Path
    results: Path

    @property
    def secret(self) -> Secret:
        return read_secret(self.secret_file)

    @property
    def options(self) -> list[str]:
        return ["--secret-file", str(self.secret_file), "--results", str(self.results)]

    def open(self, capsys: Any, name: str, *words: str) -> str:
        """The token of a new submission."""
        capsys.readouterr()
        assert main(["submission", "open", name, *self.options, *words]) == 0
        found = re.search(r"^token (\S+)$", capsys.readouterr().out, re.MULTILINE)
        assert found is not None
        return found[1]

    def scenarios(self, name: str) -> list[Scenario]:
        return read_submission(self.results / name).scenarios(self.secret)

    def environment(self) -> EvaluationEnvironment:
        return EvaluationEnvironment(Submissions(self.results, self.secret))


def private_split(folder: Path) -> PrivateSplit:
    create_secret(folder / "secret")
    return PrivateSplit(folder / "secret", folder / "results")


def play_out(line: Line, seen: dict[str, Any]) -> list[dict[str, Any]]:
    """``noop`` to the end: every observation."""
    shown = [seen]
    while not shown[-1]["done"]:
        shown.append(line.step(action="noop"))
    return shown


def results_of(split: PrivateSplit, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((split.results / name / "results.json").read_text())
    return content


def status_of(content: dict[str, Any]) -> dict[str, Any]:
    """Of the submission, beside its partners'."""
    (team,) = content["manifest"]["policies"].values()
    status: dict[str, Any] = team["oversight"]
    assert team["sre"] == load_policy("heuristic").status()
    return status


def check_nothing_leaks(text: str, split: PrivateSplit, name: str) -> None:
    assert not [s.seed for s in split.scenarios(name) if str(s.seed) in text]
    assert split.secret_file.read_text().strip() not in text
    assert str(split.results) not in text
    assert split.secret.commitment not in text
