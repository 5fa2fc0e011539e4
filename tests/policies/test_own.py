"""Policies of a user's own: what they may be, what they may return, and what goes wrong."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chaosops import Team, load_policy, make_scenario, play
from chaosops.cli import main
from chaosops.core.actions import FlagRogue, Noop, Restart, Unreadable
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.judge import judge_monitors
from chaosops.evaluation.matrix import scenarios
from chaosops.policies.protocol import DecisionRequest
from chaosops.rollout import load_team

FILE = """
import helper_of_mine
from chaosops.core.actions import Noop, Restart
from chaosops.policies.protocol import ScriptedPolicy


def waits(view):
    return Noop()


def draws(view, dice):
    return dice.pick([Noop(), Restart("db")])


def monitor(view):
    return {helper_of_mine.FIRST(view): 0.9}


def forgets(view):
    view.role


def fails(view):
    return {}["latency"]


def greedy(view, dice, budget):
    return Noop()


class Callable:
    def __call__(self, view):
        return Noop()


class Scripted(ScriptedPolicy):
    def act(self, view, dice):
        return Noop()

    def suspect(self, view, dice):
        return dict.fromkeys(view.rules.agents, 0.25)


class Short:
    def decide(self, requests):
        return []


class Needs:
    def __init__(self, model, temperature=0):
        pass


class Breaks:
    def __init__(self):
        raise OSError("no weights")


NUMBER = 3
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The folder of a user: a file of policies, and a module beside it."""
    (tmp_path / "mine.py").write_text(FILE, encoding="utf-8")
    (tmp_path / "helper_of_mine.py").write_text("FIRST = lambda view: view.rules.agents[0]\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield "mine.py"
    forget(tmp_path)


def forget(folder: Path) -> None:
    """Forget the modules of a folder, as in a process of its own."""
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", None)).startswith(str(folder)):
            del sys.modules[name]


def request_of(role: Role, pack: str = "arena") -> DecisionRequest:
    env = Env(make_scenario(pack=pack))
    while env.role is not role:
        env.play(Decision(Noop()))
    return DecisionRequest(env.view, 7)


def decided(name: str | Any, role: Role = Role.OVERSIGHT, pack: str = "arena") -> Decision:
    (decision,) = load_policy(name).decide([request_of(role, pack)])
    return decision


@pytest.mark.parametrize("name", ["waits", "draws", "Callable", "Scripted"])
@pytest.mark.parametrize("home", ["mine.py", "./mine.py", "mine"])
def test_a_class_or_function_of_a_file_or_module_plays(mine: str, home: str, name: str) -> None:
    team = load_team(f"{home}:{name}")
    episode = play(make_scenario("db_deadlock"), team)
    assert episode.turns
    assert episode.team == f"{home}:{name}"
    status = team.status()
    assert (status["kind"], status["policy"]) == ("own", f"{home}:{name}")
    assert len(status["source"]) == 16


def test_a_function_with_dice_draws_by_seed(mine: str) -> None:
    team = load_team("mine.py:draws")
    scenario = make_scenario(pack="arena")
    first, second = play(scenario, team), play(scenario, team)
    actions = [turn.decision.action for turn in first.turns]
    assert actions == [turn.decision.action for turn in second.turns]
    assert {Noop(), Restart("db")} == set(actions)


def test_a_suspicion_makes_a_monitor(mine: str) -> None:
    request = request_of(Role.OVERSIGHT)
    first, *others = request.view.rules.agents
    decision = decided("mine.py:monitor")
    assert decision.action == FlagRogue(first, confidence=0.9)
    assert decision.suspicion == {first: 0.9, **dict.fromkeys(others, 0.0)}


def test_a_monitor_flags_from_one_half_on_and_nobody_twice() -> None:
    def monitor(view: Any) -> dict[str, float]:
        first, second, *_ = view.rules.agents
        return {first: 0.8, second: 0.6}

    team = Team({**load_team("heuristic").policies, Role.OVERSIGHT: load_policy(monitor)})
    episode = play(make_scenario(pack="arena", seed=3), team)
    acts = [turn.decision.action for turn in episode.turns if turn.role is Role.OVERSIGHT]
    flags = [act.target for act in acts if isinstance(act, FlagRogue)]
    assert len(flags) == len(set(flags)) == min(2, len(acts))
    assert decided(lambda view: {view.rules.agents[0]: 0.49}).action == Noop()


def test_no_suspicion_is_reported_where_none_is_measured(mine: str) -> None:
    decision = decided("mine.py:monitor", pack="classic")
    assert isinstance(decision.action, FlagRogue)
    assert decision.suspicion is None


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (Restart("db"), Restart("db")),
        ({"action": "restart", "target": "db"}, Restart("db")),
        ('{"action": "restart", "target": "db"}', Restart("db")),
        (Decision(Noop(), {}), Noop()),
    ],
)
def test_what_a_function_may_return(answer: object, action: object) -> None:
    assert decided(lambda view: answer).action == action


def test_a_malformed_action_is_a_miscommunication() -> None:
    assert isinstance(decided(lambda view: "restart the db").action, Unreadable)
    assert isinstance(decided(lambda view: Restart(5)).action, Unreadable)  # type: ignore[arg-type]


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


@pytest.mark.parametrize("value", [1.5, -0.1, float("nan"), "high", None])
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


def test_a_status_stands_in_the_manifest_and_must_be_json() -> None:
    class Told:
        def __init__(self, told: object) -> None:
            self._told = told

        def __call__(self, view: object) -> Noop:
            return Noop()

        def status(self) -> object:
            return self._told

    status = load_policy(Told({"model": "mine", "kind": "scripted"})).status()
    assert (status["model"], status["kind"]) == ("mine", "own")
    for told in (None, {"model": object()}, {"x": float("nan")}):
        with pytest.raises(BadInput, match="must return a dict that JSON can hold"):
            load_policy(Told(told)).status()


def test_decide_returns_a_decision_for_each_request(mine: str) -> None:
    with pytest.raises(BadInput, match="gave 0 decisions for 1 requests"):
        decided("mine.py:Short")


def test_pickles_name_the_policy(mine: str) -> None:
    """Another process imports the file again, so nothing in it needs to be picklable."""
    policy = pickle.loads(pickle.dumps(load_policy("mine.py:draws")))
    assert policy.name == "mine.py:draws"
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(load_policy(lambda view: Noop()))


def test_a_policy_that_ships_keeps_its_name(mine: str) -> None:
    Path("heuristic.py").write_text(FILE, encoding="utf-8")
    assert load_policy("heuristic").status()["kind"] == "scripted"
    assert load_policy("heuristic.py:waits").status()["kind"] == "own"


def test_a_recording_of_it_is_verified_without_an_import(
    mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--policy", "oversight=mine.py:monitor,others=random", "--pack", "arena"]
    assert main(["run", *words, "--record", "episode.json"]) == 0
    Path(mine).write_text("raise SystemExit('imported')\n")
    forget(Path.cwd())
    assert main(["verify", "episode.json"]) == 0
    assert "mine.py:monitor is not part of chaosops" in capsys.readouterr().out
    assert main(["verify", "episode.json", "--own-policies"]) == 0
    told = capsys.readouterr().out
    assert "mine.py:monitor was not asked again: policy mine.py:monitor: cannot import" in told


def test_a_decision_that_it_would_not_take_again_is_a_finding(
    mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--policy", "oversight=mine.py:monitor,others=random", "--pack", "arena"]
    assert main(["run", *words, "--record", "episode.json"]) == 0
    Path(mine).write_text(FILE.replace("0.9", "0.7"))
    forget(Path.cwd())
    assert main(["verify", "episode.json", "--own-policies"]) == 1
    told = capsys.readouterr().out
    assert "the file of mine.py:monitor has changed since this was played" in told
    assert "mine.py:monitor does" in told


DOCS = Path(__file__).parents[2] / "docs"


def test_the_monitor_of_the_page_plays_beside_the_overseers_that_ship() -> None:
    name = f"{DOCS / 'examples' / 'monitor.py'}:unordered"
    assert (DOCS / "examples" / "monitor.py").read_text() in (DOCS / "own_policies.md").read_text()
    teams = [f"oversight={overseer},others=heuristic" for overseer in (name, "auditor")]
    judged = judge_monitors(evaluate(teams, scenarios(pack="arena", tiers=[Tier.HARD], seeds=20)))
    assert [row["policy"] for row in judged.summary] == teams
    assert all(row["auroc_turn_1"]["value"] is not None for row in judged.summary)


def test_a_policy_that_exits_does_not_end_the_command(tmp_path: Path) -> None:
    """With exit code 0 nobody would notice that nothing was played."""
    path = tmp_path / "leaves.py"
    path.write_text("import sys\n\ndef turn(view):\n    sys.exit(0)\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"failed as oversight .*SystemExit: 0 \(leaves\.py, line 4"):
        decided(f"{path}:turn")
