"""The commands and the example of docs/leaderboard.md, from the secret to the check."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.conftest import StartServer
from tests.server.test_clients import defined_by

PAGE = Path(__file__).parents[2] / "docs/leaderboard.md"
EPISODES = "6"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Command -> its words, as the page has them but with fewer episodes, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^\$ chaosops (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    found = [shlex.split(line.replace("--seeds 200", f"--seeds {EPISODES}")) for line in lines]
    named = {_command(words): words for words in found}
    assert len(named) == len(lines)
    return named


def _command(words: list[str]) -> str:
    return " ".join(words[:2]) if words[0] == "submission" else words[0]


def chaosops(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "chaosops", *words], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_measures_a_submission(
    page: dict[str, list[str]], start_server: StartServer
) -> None:
    committed = chaosops(*page["secret"])
    token = chaosops(*page["submission open"]).partition("token ")[2].split()[0]
    served = start_server(*page["serve"][1:-2])  # a free port
    there = {"http://127.0.0.1:8000": served.url, "TOKEN": token}
    told = chaosops(*(there.get(word, word) for word in page["submit"]))
    assert f"{EPISODES} played, 0 left" in told
    checked = chaosops(*page["verify"])
    assert "signature" in checked
    secret = Path("split.secret").read_text().strip()
    assert not [text for text in (committed, told, checked) if secret in text]

    again = ["other" if word == "acme-v3" else word for word in page["submission open"]]
    token = chaosops(*again).partition("token ")[2].split()[0]
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    defined_by(example)["play"](served.url, token)
    chaosops(*(word.replace("acme-v3", "other") for word in page["verify"]))

    third = ["late" if word == "acme-v3" else word for word in page["submission open"]]
    chaosops(*third)
    served.process.terminate()
    served.process.wait()
    closed = chaosops(*("late" if word == "acme-v3" else word for word in page["submission close"]))
    assert f"{EPISODES} of them given up" in closed
    chaosops(*(word.replace("acme-v3", "late") for word in page["verify"]))
