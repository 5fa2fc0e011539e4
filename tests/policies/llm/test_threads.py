from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from chaosops.core.errors import BadInput
from chaosops.policies.llm.threads import VARIABLE, free_cores, thread_count
from chaosops.policies.registry import load_policy


def test_busy_cores_are_left_to_those_who_use_them() -> None:
    assert 1 <= free_cores() <= len(os.sched_getaffinity(0))
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(os.cpu_count() or 1)
    ]
    time.sleep(0.3)
    try:
        assert free_cores() == 1
    finally:
        for process in busy:
            process.kill()
            process.wait()


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
        ("trained+runtime=transformers+threads=2", "option of llama.cpp, not of transformers"),
    ],
)
def test_threads_that_cannot_be_used(spec: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        load_policy(spec)
