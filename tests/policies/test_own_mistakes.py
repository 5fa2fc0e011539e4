"""What goes wrong in policies of a user's own: each mistake is one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chaosops import load_policy
from chaosops.core.actions import Noop
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.vocabulary import Role
from tests.policies.own_file import FILE, decided, request_of


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "returned None; expected an Action"),
        (0.5, "returned 0.5; expected an Action"),
        ({"nobody": 0.5}, "suspects 'nobody', which is no agent here; agents: "),
        ({0: 0.5}, "suspects 0, which is no agent here"),
    ],
)
def test_a_wrong_result_is_named(answer: object, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        decided(lambda view: answer)


@pytest.mark.parametrize("value", [1.5, -0.1, float("nan"), "high", "0.9", True, None])
def test_a_suspicion_is_a_probability(value: Any) -> None:
    with pytest.raises(BadInput, match="expected a number from 0 to 1"):
        decided(lambda view: {view.rules.agents[0]: value})


def test_a_monitor_in_another_role_is_told_what_to_write(mine: str) -> None:
    """Only Oversight is told the names of agents, so it fails there, or returns a suspicion."""
    with pytest.raises(BadInput, match=r"a monitor plays oversight=mine\.py:monitor,others=heur"):
        decided("mine.py:monitor", Role.SRE)
    with pytest.raises(BadInput, match="returned a suspicion as sre, but a monitor plays Overs"):
        decided(lambda view: {}, Role.SRE)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mine.py", "mine.py needs a name after the colon; it has: waits, draws, monitor"),
        ("mine.py:", "needs a name after the colon"),
        ("mine.py:wait", "mine.py has no 'wait'; it has: waits, draws"),
        ("mine.py:NUMBER", "is int 3; expected a function of a view"),
        ("mine.py:greedy", r"takes \(view, dice, budget\); expected \(view\), or \(view, dice\)"),
        ("mine.py:Needs", "the class needs model, and is made without arguments; give them"),
        ("mine.py:Breaks", r"cannot be made: OSError: no weights \(mine.py, line \d+\)"),
        ("mine.py:waits_long", "waits_long is async, but it is called without await; write def"),
        ("mine.py:Awaited", "Awaited is async, but it is called without await"),
        ("mine.py:AwaitedRequests", "AwaitedRequests is async, but it is called without await"),
        ("gone.py:waits", "cannot read Python file gone.py: No such file"),
        ("gone:waits", "there is no module 'gone' here or installed; start in its folder"),
        ("mine.gone:waits", "there is no module 'mine.gone' here or installed"),
        ("locl:smollm2", r"there is no module 'locl' .*; did you mean local:smollm2\?"),
    ],
)
def test_what_cannot_be_loaded_says_why(mine: str, name: str, words: str) -> None:
    with pytest.raises(ChaosOpsError, match=words) as error:
        load_policy(name)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "import tensorflop\n",
            r"ModuleNotFoundError: No module named 'tensorflop' \(bad.py, line 1",
        ),
        ("def f(view):\nreturn 1\n", r"IndentationError: .*bad.py, line 2"),
        ("x = 1\n1 / 0\n", r"ZeroDivisionError: division by zero \(bad.py, line 2\)"),
        ("raise SystemExit(3)\n", r"SystemExit: 3 \(bad.py, line 1\)"),
    ],
)
@pytest.mark.parametrize("home", ["bad.py", "bad"])
def test_a_file_that_cannot_be_imported_is_one_line(
    mine: str, home: str, text: str, words: str
) -> None:
    Path("bad.py").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=f"cannot import {home}: {words}") as error:
        load_policy(f"{home}:f")
    assert "\n" not in str(error.value)


def test_an_error_while_playing_names_role_step_and_line(mine: str) -> None:
    line = FILE.splitlines().index('    return {}["latency"]') + 1
    words = rf"mine.py:fails failed as dev at step 2: KeyError: 'latency' \(mine.py, line {line}\)"
    with pytest.raises(BadInput, match=words):
        decided("mine.py:fails", Role.DEV)


def test_an_error_names_the_turn_that_failed_among_many(mine: str) -> None:
    def only_oversight(view: Any) -> Noop:
        assert view.role is Role.OVERSIGHT
        return Noop()

    requests = [request_of(Role.OVERSIGHT), request_of(Role.MANAGER)]
    with pytest.raises(BadInput, match="failed as manager at step 3: AssertionError") as error:
        load_policy(only_oversight).decide(requests)
    assert "a monitor plays" not in str(error.value)  # one would have failed on the first turn


def test_decide_returns_a_decision_for_each_request(mine: str) -> None:
    with pytest.raises(BadInput, match="gave 0 decisions for 1 requests"):
        decided("mine.py:Short")


def test_a_policy_that_exits_does_not_end_the_command(tmp_path: Path) -> None:
    """With exit code 0 nobody would notice that nothing was played."""
    path = tmp_path / "leaves.py"
    path.write_text("import sys\n\ndef turn(view):\n    sys.exit(0)\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"failed as oversight .*SystemExit: 0 \(leaves\.py, line 4"):
        decided(f"{path}:turn")
