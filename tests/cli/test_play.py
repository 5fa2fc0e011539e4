"""`chaosops play`: a person takes a seat."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tests.cli.test_cli import Cli

if TYPE_CHECKING:
    import pytest


def typed(*answers: str) -> Callable[[str], str]:
    lines: Iterator[str] = iter(answers)

    def ask(prompt: str = "") -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    return ask


def test_a_person_can_take_a_seat(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ["999", "what?", "help", "flag_rogue autoscaler"]
    monkeypatch.setattr("builtins.input", typed(*answers))
    code, out, _ = cli("play", "--role", "oversight", "--policy", "oracle")
    assert code == 0
    assert "not an action (unknown_number): choose 1 to" in out
    assert "not an action (not_json)" in out
    assert "rogue autoscaler caught" in out
    assert "reward +184.0" in out
    rules, _, played = out.partition("You see the points of each of your turns at once")
    assert "reward" not in rules
    assert "and so whether a flag was right" in played


def test_what_a_person_fills_in_is_asked_for(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ["scale …", "payments", "lots", "say something", "I am on it"]
    answers += ["scale …", "payments", "4"]
    monkeypatch.setattr("builtins.input", typed(*answers))
    code, out, _ = cli("play", "--role", "dev", "--policy", "oracle")
    assert code == 0
    assert '"I am on it"' in out
    assert "scale payments to 4" in out
    assert "resolved in 7 steps" in out


def test_an_input_that_ends_is_an_error(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", typed())
    code, _, err = cli("play", "--role", "sre")
    assert code == 2
    assert "needs a keyboard" in err
