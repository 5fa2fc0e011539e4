"""The case file against what the pack tells about the same incident."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from chaosops.core.actions import Action, IdentifyRootCause, Noop
from chaosops.core.decision import Decision
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.packs.live import PACK
from chaosops.report.acts import for_people
from chaosops.report.case_file import CaseFile, case_file
from chaosops.rollout import play
from chaosops.world import real_time
from tests.fake_platform import AT_ONCE, FakePlatform

SEEDS = range(40)
LIVE_SEEDS = range(8)


@pytest.fixture(scope="module")
def files() -> list[tuple[CaseFile, str]]:
    scenarios = [make_scenario(split="test", tier="hard", seed=seed) for seed in SEEDS]
    pack = load_pack("arena")
    return [(case_file(play(one, "auditor")), " ".join(pack.explain(one))) for one in scenarios]


def test_there_are_days_with_and_without_a_rogue(files: list[tuple[CaseFile, str]]) -> None:
    assert 5 < sum(file.rogue is not None for file, _ in files) < len(files) - 5


def test_a_rogue_broke_a_clause_of_its_charter(files: list[tuple[CaseFile, str]]) -> None:
    for file, told in files:
        broken = [clause.text for clause in file.clauses if clause.broken]
        assert bool(broken) == (file.rogue is not None)
        assert all(text in told for text in broken)


def test_entries_that_never_happened_are_those_that_the_pack_names(
    files: list[tuple[CaseFile, str]],
) -> None:
    for file, told in files:
        never = re.findall(r"#(\d+) at minute -\d+, is (\w+)", told)
        words = {"forged": "forged", "a": "mistaken"}
        expected = {(int(number), words[why]) for number, why in never}
        found = {(one.id, one.kind) for one in file.compared if not one.signed}
        assert found == expected
    kinds = {one.kind for file, _ in files for one in file.compared}
    assert kinds == {"true", "hidden", "forged", "mistaken"}


def test_hidden_acts_show_what_was_signed(files: list[tuple[CaseFile, str]]) -> None:
    for file, told in files:
        hidden = re.findall(r"The trace shows ([+-]\d+)% in #(\d+) .*?shows ([+-]\d+)%", told)
        expected = {
            (int(number), for_people(shown), for_people(signed)) for shown, number, signed in hidden
        }
        percent = re.compile("\\(([+\N{MINUS SIGN}]\\d+)%\\)")
        found = {
            (one.id, percent.findall(one.claimed)[0], percent.findall(one.signed)[0])
            for one in file.compared
            if one.kind == "hidden"
        }
        assert found == expected


def test_there_is_one_rogue_among_the_suspects_or_none(files: list[tuple[CaseFile, str]]) -> None:
    for file, _ in files:
        rogues = [one.agent for one in file.suspects if one.verdict == "rogue"]
        assert rogues == ([file.rogue] if file.rogue else [])
        framed = {one.agent for one in file.suspects if one.verdict == "framed"}
        assert framed == {one.agent for one in file.compared if one.kind == "forged"}
        assert bool(framed) == ("forged an act" in file.method)


def test_the_timeline_has_five_lines_and_the_twins_three_bars(
    files: list[tuple[CaseFile, str]],
) -> None:
    for file, _ in files:
        steps = [moment.step for moment in file.timeline]
        assert steps == sorted(steps)
        kinds = [moment.kind for moment in file.timeline]
        assert (kinds[0], kinds[1], kinds[4]) == ("act", "call", "end")
        assert "cause" in kinds[2:4]
        assert {*kinds[2:4]} & {"caught", "false", "missed", "kept"}
        assert file.twin is not None
        assert file.twin.lost >= 0


@pytest.mark.parametrize(("seed", "who"), [(37, "A human"), (24, "The infrastructure")])
def test_a_change_from_outside_the_fleet_stands_at_its_own_minute(seed: int, who: str) -> None:
    scenario = make_scenario(split="test", tier="medium", seed=seed)
    told = " ".join(load_pack("arena").explain(scenario))
    (minute,) = re.findall(rf"{who} made the change at minute (-\d+)", told)
    first = case_file(play(scenario, "auditor")).timeline[0]
    assert (first.kind, first.step) == ("act", int(minute))
    assert first.words.startswith(f"{who} makes the change, and no agent of the fleet")


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([Noop(), Noop()], "Nobody named a cause"),
        ([IdentifyRootCause("deadlock"), Noop()], "Nobody named the right cause"),
    ],
)
def test_a_cause_that_was_not_found(actions: list[Action], words: str) -> None:
    scenario = make_scenario(split="test", tier="hard", seed=91)
    env, played = Env(scenario), play(scenario, "heuristic")
    turns = [env.play(Decision(action)) for action in actions]
    file = case_file(replace(played, turns=turns))
    assert [one.words for one in file.timeline if one.kind == "cause"] == [words]


def test_every_turn_tells_what_its_role_saw(files: list[tuple[CaseFile, str]]) -> None:
    file, _ = files[0]
    assert [turn.step for turn in file.turns] == list(range(1, len(file.turns) + 1))
    assert all(turn.saw.startswith(f"Step {turn.step} of ") for turn in file.turns)
    assert all("You are" in text for text in file.instructions.values())


def test_an_incident_without_documents_has_a_case_file_too() -> None:
    file = case_file(play("autoscaler_cost_cut", "oracle"))
    assert file.rogue == "autoscaler"
    assert [moment.kind for moment in file.timeline] == ["act", "call", "cause", "caught", "end"]
    assert "autoscaler did it" in file.timeline[0].words
    assert (file.compared, file.clauses, file.twin, file.method) == ((), (), None, "")


def test_a_live_run_has_the_case_file_of_its_plot(monkeypatch: pytest.MonkeyPatch) -> None:
    """What its agents signed is known, although its team audits few of them."""
    monkeypatch.setattr(PACK, "start", FakePlatform)
    monkeypatch.setattr(PACK, "pace", AT_ONCE)
    monkeypatch.setattr(real_time, "_permitted", True)
    kinds = set()
    for seed in LIVE_SEEDS:
        live, plotted = (
            case_file(play(make_scenario(pack=pack, tier="hard", seed=seed), "auditor"))
            for pack in ("live", "rehearsal")
        )
        kinds |= {one.kind for one in live.compared}
        for name in ("rogue", "cause", "method", "story", "clauses", "compared", "suspects"):
            assert getattr(live, name) == getattr(plotted, name), (seed, name)
        assert (live.twin, plotted.measured) == (None, ())
        assert "requests of users failed during the episode" in live.measured[0]
    assert {"hidden", "mistaken"} <= kinds
