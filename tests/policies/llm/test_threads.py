from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chaosops.core.errors import BadInput
from chaosops.policies.llm import threads
from chaosops.policies.llm.threads import VARIABLE, free_cores, thread_count
from chaosops.policies.registry import load_policy


def test_busy_cores_are_left_to_those_who_use_them() -> None:
    assert 1 <= free_cores() <= len(os.sched_getaffinity(0))
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        deadline = time.monotonic() + 30
        while free_cores() > 1:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        for process in busy:
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    ("cores", "allowed", "running", "quota", "free"),
    [
        (2, 2, 1, "max 100000", 2),  # nobody else computes
        (2, 2, 2, "max 100000", 1),  # one core is busy
        (2, 2, 9, "max 100000", 1),  # more threads than cores: at least one
        (2, 1, 1, "max 100000", 1),
        (64, 2, 61, "max 100000", 2),  # the others have cores of their own
        (8, 8, 3, "max 100000", 6),
        (8, 8, 1, "250000 100000", 2),
        (8, 8, 1, "50000 100000", 1),
        (8, 8, 1, None, 8),
    ],
)
def test_threads_by_what_is_free(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cores: int,
    allowed: int,
    running: int,
    quota: str | None,
    free: int,
) -> None:
    """``running`` counts the thread that asks."""
    (tmp_path / "loadavg").write_text(f"9.00 9.00 9.00 {running}/400 12345\n")
    if quota is not None:
        (tmp_path / "cpu.max").write_text(quota + "\n")
    monkeypatch.setattr(threads, "Path", lambda name: tmp_path / Path(name).name)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(allowed)))
    assert free_cores() == free


def test_the_environment_names_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "7")
    assert thread_count() == 7
    monkeypatch.setenv(VARIABLE, "none")
    with pytest.raises(BadInput, match="whole number from 1, got 'none'"):
        thread_count()


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("local:smollm2+threads=0", "threads=0"),
        ("trained+runtime=transformers+threads=2", "transformers has no option threads, got"),
        ("trained+batch=16", "llama.cpp has no option batch, got .* options are .*, threads$"),
        ("local:smollm2+price=1/2", "llama.cpp has no option price"),
        ("openai:m@http://127.0.0.1/v1+batch=2", "an endpoint has no option batch"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(spec: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        load_policy(spec)
