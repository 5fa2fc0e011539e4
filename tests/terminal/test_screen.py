from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from chaosops.cli.commands.watch import film
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.policies.registry import load_policy
from chaosops.report.frames import Frame
from chaosops.rollout import Rollout, Team
from chaosops.terminal.screen import Room, draw
from tests.companies import guilty_case


def rollout_of(failure: str, policy: str, seed: int = 42) -> Rollout:
    return Rollout(
        Env(make_scenario(failure, tier="hard", seed=seed)), Team.of(load_policy(policy))
    )


def frames_of(failure: str, policy: str) -> list[Frame]:
    return [frames[0] for frames in film([rollout_of(failure, policy)])]


def drawn(frame: Frame, width: int = 110, height: int = 50) -> str:
    console = Console(width=width, height=height, record=True, file=io.StringIO())
    console.print(draw([frame], Room.for_height(height)))
    return console.export_text()


def test_frames_follow_the_episode() -> None:
    frames = frames_of("autoscaler_cost_cut", "oracle")
    assert [frame.step for frame in frames] == [0, 1, 2, 3]
    assert [frame.reward for frame in frames] == [0.0, 28.0, 74.0, 184.0]
    assert frames[2].flag_now is not None
    assert frames[2].flag_now.caught
    assert frames[3].flag_now is None
    assert [frame.outcome is None for frame in frames] == [True, True, True, False]


def test_the_truth_is_not_shown_before_the_end() -> None:
    for failure in load_pack("classic").failures():
        for frame in frames_of(failure, "heuristic"):
            shown = str((frame.title, frame.team, frame.alerts, frame.logs, frame.trace))
            assert failure not in shown
            assert (frame.outcome is None) == (frame.turn is None or not frame.turn.events.over)


def test_a_frame_shows_every_panel() -> None:
    text = drawn(frames_of("autoscaler_cost_cut", "oracle")[2])
    for words in (
        "payments",
        "■ critical",
        "▅▅▅",
        "alerts",
        "logs",
        "fleet trace",
        "autoscaler scale payments: 4 → 1",
        "root cause: too little capacity",
        "oversight +50",
        "step 2 of 25",
        "OVERSIGHT FLAGS AUTOSCALER",
        "and it is the rogue",
    ):
        assert words in text, words


def test_a_false_flag_looks_different() -> None:
    flagged = [f for f in frames_of("db_deadlock", "keyword") if f.flag_now and not f.outcome]
    assert flagged
    assert "who is innocent: a false flag" in drawn(flagged[0])


@pytest.mark.parametrize("height", [24, 31, 38, 46, 60])
@pytest.mark.parametrize("failure", ["cascade", "rogue_deploy_bot"])
def test_frames_fit_their_terminal(height: int, failure: str) -> None:
    for frame in frames_of(failure, "random"):
        lines = drawn(frame, 80, height).rstrip("\n").split("\n")
        assert len(lines) <= height
        assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("height", [24, 40, 50, 70])
def test_a_company_shows_its_documents(height: int) -> None:
    scenario = make_scenario(pack="arena", seed=guilty_case().seed)
    shown = ""
    for (frame,) in film([Rollout(Env(scenario), Team.of(load_policy("auditor")))]):
        console = Console(width=100, height=height, record=True, file=io.StringIO())
        console.print(draw([frame], Room.for_height(height, 11, documents=True)))
        text = console.export_text()
        assert height == 24 or len(text.rstrip("\n").split("\n")) < height
        shown += text
    assert ("charter " in shown) == ("runbook " in shown) == ("order: " in shown) == (height > 24)
    assert frame.outcome is not None
    assert any("does damage" in sentence for sentence in frame.explanation)


def test_frames_keep_their_height() -> None:
    heights = {drawn(frame).count("\n") for frame in frames_of("cascade", "random")}
    assert len(heights) == 1


def test_two_policies_stand_side_by_side() -> None:
    rollouts = [rollout_of("autoscaler_cost_cut", policy) for policy in ("random", "oracle")]
    *_, last = film(rollouts)
    console = Console(width=170, height=44, record=True, file=io.StringIO())
    console.print(draw(last, Room.for_height(44)))
    text = console.export_text()
    assert re.search(r"random .* oracle ", text)
    assert "RESOLVED in 3 steps" in text


def test_watch_in_a_real_terminal(tmp_path: Path) -> None:
    """A pseudo-terminal: the live screen must come up, draw the flag and end by itself."""
    master, slave = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "110", "LINES": "48"}
    words = ["-m", "chaosops", "watch", "--policy", "oracle", "--frame-delay", "0.05"]
    process = subprocess.Popen(
        [sys.executable, *words], stdin=slave, stdout=slave, stderr=slave, env=env, close_fds=True
    )
    os.close(slave)
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([master], [], [], 0.2)
        if ready:
            try:
                chunk = os.read(master, 65536)
            except OSError:
                break
            if not chunk:
                break
            shown += chunk
        elif process.poll() is not None:
            break
    os.close(master)
    assert process.wait(timeout=10) == 0
    text = shown.decode(errors="replace")
    assert "OVERSIGHT FLAGS AUTOSCALER" in text
    assert "RESOLVED in 3 steps" in text
    assert "\x1b[" in text
