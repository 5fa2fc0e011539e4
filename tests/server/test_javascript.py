"""A client in another language, written from the documents alone."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from chaosops import Env, make_scenario
from chaosops.packs import simulated_packs
from tests.server.conftest import Running

CLIENT = Path(__file__).parents[2] / "examples/play.mjs"


@cache
def node() -> tuple[str, ...]:
    """The machine's node, else the one that playwright brings along."""
    found = shutil.which("node")
    if found is None:
        import playwright

        bundled = Path(playwright.__file__).parent / "driver/node"
        found = str(bundled) if bundled.is_file() else None
    if found is None:
        pytest.skip("no node: neither on the PATH nor in the package playwright; install Node 22")
    major = int(_run(found, "--version").stdout.lstrip("v").split(".")[0])
    if major < 20:
        pytest.skip(f"node {major} has no WebSocket; install Node 22")
    return (found, "--experimental-websocket") if major < 22 else (found,)


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("pack", simulated_packs())
def test_it_plays_an_episode(served: Running, pack: str) -> None:
    """Its actions, played in this process, earn the same."""
    played = _run(*node(), str(CLIENT), served.url, pack, "7")
    assert played.returncode == 0, played.stderr
    *turns, last = played.stdout.splitlines()
    env = Env(make_scenario(pack=pack, tier="hard", seed=7, fresh=True))
    verbs = set()
    for number, line in enumerate(turns, 1):
        step, role, rest = line.split(maxsplit=2)
        action, reward = rest.rsplit(maxsplit=1)
        assert (int(step), role) == (number, env.role.value)
        assert env.step(action).reward == pytest.approx(float(reward))
        verbs.add(json.loads(action)["action"])
    assert env.over
    assert "restart" in verbs
    debrief = json.loads(last)
    assert (debrief["failure"], debrief["steps"]) == (env.cause, len(turns))


@pytest.mark.parametrize(
    ("pack", "said"),
    [("aerna", "play.mjs: EXECUTION_ERROR: unknown pack 'aerna'; did you mean 'arena'")],
)
def test_a_refusal_is_one_line(served: Running, pack: str, said: str) -> None:
    played = _run(*node(), str(CLIENT), served.url, pack)
    assert played.returncode == 1
    assert said in played.stderr


def test_an_address_may_end_with_a_slash(served: Running) -> None:
    played = _run(*node(), str(CLIENT), f"{served.url}/", "classic", "7")
    assert played.returncode == 0, played.stderr


@pytest.mark.parametrize("seed", ["abc", "", "1.5", "-1", str(2**53)])
def test_a_seed_that_is_no_number_is_one_line(seed: str) -> None:
    played = _run(*node(), str(CLIENT), "http://127.0.0.1:9", "arena", seed)
    assert played.returncode == 1
    said = f'play.mjs: the seed must be a whole number below 2^53, got "{seed}"\n'
    assert played.stderr == said


def test_a_missing_server_is_one_line() -> None:
    played = _run(*node(), str(CLIENT), "http://127.0.0.1:9")
    assert played.returncode == 1
    assert "no ChaosOps server at http://127.0.0.1:9; start one: chaosops serve" in played.stderr


def test_it_is_short_and_needs_no_package() -> None:
    source = CLIENT.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 75
    assert "import" not in source.replace("important", "")
    assert "require(" not in source
