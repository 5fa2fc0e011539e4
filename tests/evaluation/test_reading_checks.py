"""Checks of reading tell a policy that reads from one that remembers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from chaosops import Team, load_policy, make_scenario
from chaosops.core.actions import Noop, failed_turn
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role
from chaosops.evaluation.reading_cases import (
    LATER_PAGE_OUT,
    LETTERS,
    PAGE_OUT,
    PAGES,
    ROLES,
    TO_GUILTY,
    TO_INNOCENT,
    Case,
    cases,
)
from chaosops.evaluation.reading_checks import FIRST_SEED, check_reading
from chaosops.policies.protocol import DecisionRequest
from chaosops.report.reading import lost_lines
from chaosops.roles.menu import menu
from chaosops.training.seeds import VALIDATION_SEEDS
from tests.conftest import Outcome
from tests.policies.llm.faulty_server import faulty_server, say

COMPANIES = 25
Cli = Callable[..., Outcome]
Figures = dict[tuple[str, str], dict[str, Any]]


def company(seed: int) -> Scenario:
    return make_scenario(pack="arena", split="train", tier="hard", seed=seed)


def check(policy: Any, companies: int = COMPANIES) -> Figures:
    rows = check_reading(Team.of(policy), company, companies)
    return {(row["check"], row["role"]): row for row in rows}


def share(figures: Figures, outcome: str, *checks: str) -> list[float]:
    return [row[outcome]["value"] for (check, _), row in figures.items() if check in checks]


class Memoriser:
    """Answers as the auditor when it first sees a company, and remembers the letter or the action.
    It knows the company again by its services, its turn and what its agents did."""

    sees_truth = False

    def __init__(self, remembers: str) -> None:
        self.name = f"remembers_{remembers}"
        self._letters = remembers == "letters"
        self._auditor = load_policy("auditor")
        self._known: dict[object, Any] = {}

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        return [self._decide(request) for request in requests]

    def _decide(self, request: DecisionRequest) -> Decision:
        view = request.view
        company = (view.role, view.step, view.health, view.history)
        choices = menu(view)
        if company not in self._known:
            action = self._auditor.decide([request])[0].action
            letters = [letter for letter, known in choices.items() if known == action]
            self._known[company] = letters[0] if self._letters and letters else action
            return Decision(action)
        known = self._known[company]
        return Decision(choices.get(known, Noop()) if isinstance(known, str) else known)

    def status(self) -> Mapping[str, Any]:
        return {"kind": "scripted"}


def test_a_script_that_reads_follows() -> None:
    figures = check(load_policy("auditor"))
    assert min(share(figures, "follows", PAGES, TO_INNOCENT, TO_GUILTY)) >= 0.85
    assert set(share(figures, "follows", LETTERS)) == {1.0}
    assert figures[PAGE_OUT, "dev"]["follows"]["value"] == 1.0
    assert figures[PAGE_OUT, "oversight"]["follows"]["value"] == 1.0
    assert figures[LATER_PAGE_OUT, "sre"]["follows"]["value"] >= 0.5
    # On the first turn it guesses, because a right guess pays and a wrong one costs nothing.
    assert figures[PAGE_OUT, "sre"]["follows"]["value"] == 0.0
    assert figures[PAGE_OUT, "sre"]["else"]["value"] == 1.0
    for row in figures.values():
        assert row["asked"] >= row["right_before"] >= 5
        assert sum(row[name]["value"] for name in ("follows", "stays", "else")) == pytest.approx(1)
    assert figures[TO_GUILTY, "oversight"]["suspicion_before"] < 0.1
    assert figures[TO_GUILTY, "oversight"]["suspicion_after"] > 0.8


def test_remembered_letters_fail_every_check() -> None:
    figures = check(Memoriser("letters"))
    assert set(share(figures, "stays", PAGES, TO_INNOCENT, TO_GUILTY, LETTERS)) == {1.0}
    assert max(share(figures, "follows", PAGES, TO_INNOCENT, TO_GUILTY, LETTERS)) == 0.0
    assert figures[PAGE_OUT, "dev"]["stays"]["value"] == 1.0
    # Which acts are in sight depends on the page that was named, so a letter may be gone.
    assert figures[PAGE_OUT, "oversight"]["follows"]["value"] <= 0.1


def test_remembered_answers_stay_but_find_their_letters() -> None:
    figures = check(Memoriser("actions"))
    kept = (PAGES, TO_INNOCENT, TO_GUILTY, PAGE_OUT, LATER_PAGE_OUT)
    assert set(share(figures, "stays", *kept)) == {1.0}
    assert set(share(figures, "follows", LETTERS)) == {1.0}


def test_a_keyword_lookup_does_not_read_the_charter() -> None:
    figures = check(load_policy("keyword"))
    assert figures[TO_INNOCENT, "oversight"]["stays"]["value"] == 1.0


def test_chance_follows_by_chance() -> None:
    row = check(load_policy("random"), 60)[TO_GUILTY, "oversight"]
    assert row["right_before"] > 10
    assert row["follows"]["value"] < 0.25
    assert row["follows"]["ci95"][1] > 0.0


def test_equal_runs_give_equal_figures() -> None:
    assert check(load_policy("random"), 6) == check(load_policy("random"), 6)


def drawn(role: Role) -> list[Case]:
    seeds = range(FIRST_SEED, FIRST_SEED + 40)
    return [case for seed in seeds for case in cases(company(seed), role)]


@pytest.mark.parametrize("role", ROLES)
def test_only_what_is_named_changes(role: Role) -> None:
    for case in drawn(role):
        for change in case.changes:
            old, new = case.view.rules, change.view.rules
            changed = {
                name
                for name in ("services", "agents", "causes", "verbs", "calls", "runbook", "charter")
                if getattr(old, name) != getattr(new, name)
            }
            assert (
                changed
                == {
                    PAGES: {"runbook"},
                    TO_INNOCENT: {"charter"},
                    TO_GUILTY: {"charter"},
                    LETTERS: {"causes" if role is Role.SRE else "verbs"},
                    PAGE_OUT: {"runbook", "causes"},
                    LATER_PAGE_OUT: {"runbook", "causes"},
                }[change.check]
            )
            for channel in ("health", "metrics", "logs", "alerts", "chat", "trace", "step"):
                assert getattr(case.view, channel) == getattr(change.view, channel)


def test_two_letters_of_the_sre_are_exchanged() -> None:
    for case in drawn(Role.SRE):
        for change in case.changes:
            if change.check == LETTERS:
                old, new = menu(case.view), menu(change.view)
                moved = [letter for letter in old if old[letter] != new[letter]]
                assert len(moved) == 2
                assert [old[letter] for letter in moved] == [new[letter] for letter in moved[::-1]]


def test_no_recipe_trains_on_these_companies() -> None:
    assert FIRST_SEED in VALIDATION_SEEDS


def test_a_policy_that_was_not_trained_on_the_pack_says_so() -> None:
    policy = Memoriser("letters")
    policy.trained_on = {"classic": "1"}  # type: ignore[attr-defined]
    with pytest.raises(BadInput, match=r"was trained on classic .* name another policy"):
        check(policy)


def test_a_model_behind_an_endpoint_is_asked(cli: Cli) -> None:
    with faulty_server() as server:
        server.always = say('{"action":"noop"}')
        model = f"openai:m@{server.url}"
        words = ["--policy", f"oversight={model},others=oracle", "--role", "oversight"]
        code, out, err = cli("arena", "reading", *words, "--seeds", "8", "--json")
    assert code == 0, err
    (row,) = [row for row in json.loads(out)["checks"] if row["check"] == TO_GUILTY]
    assert row["stays"]["value"] == 1.0
    assert row["right_before"] == row["asked"] > 0


class Breaks(Memoriser):
    """Answers turns as they are, and none that was changed."""

    def _decide(self, request: DecisionRequest) -> Decision:
        asked = len(self._known)
        decision = super()._decide(request)
        return decision if len(self._known) > asked else Decision(failed_turn("server gone"))


def test_turns_that_a_model_lost_are_in_no_share() -> None:
    rows = check_reading(Team.of(Breaks("actions")), company, 5, [Role.DEV])
    for row in rows:
        assert row["failed"] > row["right_before"] == 0
        assert row["follows"]["value"] is None
    assert "could not answer" in "\n".join(lost_lines(rows))


def test_the_table_has_a_row_for_each_check(cli: Cli) -> None:
    code, out, _ = cli("arena", "reading", "--policy", "heuristic", "--role", "dev", "--seeds", "3")
    assert code == 0
    rows = [line.split("|")[1].strip() for line in out.splitlines() if line.startswith("| ")]
    assert rows[2:] == [PAGES, LETTERS, PAGE_OUT]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--policy", "oracle"], "oracle sees the truth"),
        (["--policy", "hueristic"], "did you mean 'heuristic'"),
        (["--policy", "random", "--role", "manager"], "unknown role 'manager'"),
        (["--policy", "random", "--split", "tset"], "did you mean 'test'"),
        (["--policy", "random", "--seeds", "0"], "whole number from 1"),
        ([], "required: --policy"),
    ],
)
def test_bad_input_gets_one_line(cli: Cli, words: list[str], said: str) -> None:
    assert said in cli("arena", "reading", *words).refusal
