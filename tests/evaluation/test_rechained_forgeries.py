"""Forgers who recompute every link, and the journal with it: names and scenarios still tell."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops import Team, make_scenario
from chaosops.core.actions import MODEL_FAILED, Communicate, failed_turn
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.results import JOURNAL_FORMAT, chained, first_link, sealed_manifest
from chaosops.policies.protocol import DecisionRequest
from tests.conftest import Outcome
from tests.evaluation.conftest import WORDS
from tests.evaluation.forging import Content, line_of
from tests.fake_model import FakeModel

Cli = Callable[..., Outcome]


TEAM = "oversight=heuristic,others=random"


def forge(folder: Path, change: Callable[[Content, Content], object]) -> None:
    """``change`` gets results.json and the job; both files are chained anew."""
    content: Content = json.loads((folder / "results.json").read_text())
    first = (folder / "episodes.jsonl").read_text().splitlines()[0]
    job: Content = json.loads(first)["job"]
    change(content, job)
    start = previous = first_link(job)
    lines = []
    for line in content["episodes"]:
        lines.append(chained(previous, line))
        previous = lines[-1]["chain"]
    manifest = sealed_manifest({**content["manifest"], "chain": {"start": start}}, previous)
    (folder / "results.json").write_text(json.dumps({"manifest": manifest, "episodes": lines}))
    header = {"format": JOURNAL_FORMAT, "job": job, "chain": start}
    journal = "".join(json.dumps(line) + "\n" for line in (header, *lines))
    (folder / "episodes.jsonl").write_text(journal)


def both(change: Callable[[Content], object]) -> Callable[[Content, Content], None]:
    """The same change of the manifest and of the job."""

    def change_both(content: Content, job: Content) -> None:
        change(content["manifest"])
        change(job)

    return change_both


def rename(old: str, new: str, status: Content) -> Callable[[Content, Content], None]:
    def change(content: Content, job: Content) -> None:
        for of in (content["manifest"], job):
            of["policies"] = {
                **{new if name == old else name: known for name, known in of["policies"].items()},
                new: status,
            }
        for line in content["episodes"]:
            if line["policy"] == old:
                line["policy"] = line["team"] = new

    return change


def drop_a_seed(content: Content, job: Content) -> None:
    content["episodes"] = [e for e in content["episodes"] if e["scenario"]["seed"] != 2]
    content["manifest"].update(seeds=[0, 1], episodes_per_policy=2)


def repeat_one_seed(content: Content, job: Content) -> None:
    for policy in job["policies"]:
        own = [e for e in content["episodes"] if e["policy"] == policy]
        for line in own[1:]:
            line.update(json.loads(json.dumps(own[0])))
    job["scenarios"] = [job["scenarios"][0]] * 3
    content["manifest"].update(seeds=[0])


def fake_turn(content: Content, **fields: object) -> None:
    """The first decision of the model gets another action; its reply stays."""
    turn = line_of(content, "fake")["turns"][0]
    for name in ("target", "message", "failure_type", "replicas", "confidence"):
        turn.pop(name, None)
    turn.update(fields)


UNREADABLE = {"action": "unreadable", "detail": "x"}
FORGERIES: dict[str, tuple[Callable[[Content, Content], object], str]] = {
    "no packs": (both(lambda of: of.update(packs={})), "the manifest's packs are none, the"),
    "another version": (
        both(lambda of: of["packs"]["arena"].update(version="9")),
        "the manifest's pack arena version is '2', recorded '9'",
    ),
    "another pack": (
        both(lambda of: of["packs"].update(mine={"version": "1", "hash": "ab"})),
        "the manifest's packs are arena, mine, the episodes' arena",
    ),
    "a seed dropped for all": (drop_a_seed, "the job lists 3 scenarios, heuristic has played 2"),
    "one seed again and again": (repeat_one_seed, "has played 1 of its scenarios more than once"),
    "a script that calls itself a model": (
        both(lambda of: of["policies"].update(heuristic={"kind": "model"})),
        "status of heuristic: kind is 'scripted', recorded 'model'",
    ),
    "a request that calls itself a model": (
        rename("fake", TEAM, {"oversight": {"kind": "model"}}),
        "status of " + TEAM + ": kind is 'scripted', recorded 'model'",
    ),
    "a script with a model's name": (
        rename("heuristic", "trained", {"kind": "scripted", "policy": "heuristic"}),
        "status of trained: trained is a model, recorded as 'scripted'",
    ),
    "an unknown script": (
        rename("heuristic", "mine", {"kind": "scripted", "policy": "mine"}),
        "status of mine: there is no script 'mine'",
    ),
    "a name with a hidden character": (
        rename("heuristic", "heuristic\u200b", {"kind": "model"}),
        "the name 'heuristic\\u200b' is not plain printable ASCII",
    ),
    "a name with a space": (
        rename("heuristic", "heuristic ", {"kind": "model"}),
        "the name 'heuristic ' is not plain printable ASCII",
    ),
    "a status with an episode": (
        lambda c, _: line_of(c, "heuristic").update(status={"kind": "model"}),
        "status of heuristic: kind is 'scripted', recorded 'model'",
    ),
    "a reply that could be read": (
        lambda c, _: fake_turn(c, error="not_json", **UNREADABLE),
        "is not the action {'action': 'unreadable', 'error': 'not_json'",
    ),
    "a reply of a model that failed": (
        lambda c, _: fake_turn(c, error=MODEL_FAILED, **UNREADABLE),
        "is not the action {'action': 'unreadable', 'error': 'model_failed'",
    ),
    "a part of the reply as a message": (
        lambda c, _: fake_turn(c, action="communicate", message="action"),
        "is not the action {'action': 'communicate', 'message': 'action'}",
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forger_of_both_files_is_found(cli: Cli, arena: Path, forgery: str) -> None:
    change, word = FORGERIES[forgery]
    forge(arena, change)
    code, out, _ = cli("verify", str(arena))
    assert code == 1, out
    assert "its link does not fit" not in out
    assert word in out
    assert out.isascii()


def test_what_is_only_chained_anew_passes(cli: Cli, arena: Path) -> None:
    forge(arena, lambda content, job: None)
    assert cli("verify", str(arena)).code == 0


def test_monitor_figures_are_judged_by_what_was_played(cli: Cli, arena: Path) -> None:
    forge(arena, both(lambda of: of.update(packs={})))
    figures = json.loads((arena / "monitor.json").read_text())
    figures["summary"][0]["precision"]["value"] = 0.99
    (arena / "monitor.json").write_text(json.dumps(figures))
    assert "monitor.json: heuristic, hard: precision value" in cli("verify", str(arena)).out
    (arena / "monitor.json").unlink()
    assert "monitor.json: is missing" in cli("verify", str(arena)).out


def test_a_file_that_follows_from_nothing_is_found(cli: Cli, classic: Path) -> None:
    (classic / "monitor.json").write_text('{"summary": []}')
    code, out, _ = cli("verify", str(classic))
    assert code == 1
    assert "monitor.json: does not follow from these episodes" in out
    (classic / "results.json").unlink()
    assert "summary.json: does not follow from these episodes" in cli("verify", str(classic)).out


@pytest.mark.parametrize("name", ["summary.json", "monitor.json"])
@pytest.mark.parametrize(
    ("first", "said"),
    [
        ('"policy": "mine", "policy"', "'policy' occurs twice in one object"),
        (f'"x": {"9" * 400}, "policy"', "a whole number of 400 digits is too large"),
    ],
)
def test_a_figure_with_two_meanings_is_found(
    cli: Cli, arena: Path, name: str, first: str, said: str
) -> None:
    path = arena / name
    path.write_text(path.read_text().replace('"policy"', first, 1))
    code, out, _ = cli("verify", str(arena))
    assert code == 1
    assert f"{name}: cannot be read: {said}" in out


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ('{"manifest": {}, "manifest"', "'manifest' occurs twice in one object"),
        (f'{{"x": {"9" * 400}, "manifest"', "a whole number of 400 digits is too large"),
        (f'{{"x": {2**63}, "manifest"', "a whole number of 19 digits is too large"),
    ],
)
def test_results_with_two_meanings_are_one_line(
    cli: Cli, arena: Path, classic: Path, first: str, said: str
) -> None:
    path = arena / "results.json"
    path.write_text(path.read_text().replace('{"manifest"', first, 1))
    for command in (["verify"], ["recount", "--no-figures"]):
        assert said in cli(*command, str(arena)).refusal
    code, out, err = cli("verify", str(arena), str(classic))
    assert (code, err) == (1, "")
    assert f"arena: cannot be verified: {path} is not a results file" in out
    assert f"{classic}: " in out


def test_a_stopped_evaluation_is_checked_as_well(cli: Cli, arena: Path) -> None:
    forge(arena, both(lambda of: of["policies"].update(heuristic={"kind": "model"})))
    for name in ("results.json", "summary.json", "monitor.json", "table.md"):
        (arena / name).unlink()
    code, out, _ = cli("verify", str(arena))
    assert code == 1
    assert "episodes.jsonl: the manifest's status of heuristic: kind is 'scripted'" in out


def test_what_is_not_verified_is_named(cli: Cli, arena: Path, classic: Path) -> None:
    place = arena.parent / "all"
    shutil.copytree(arena, place / "good")
    (place / "linked").symlink_to(classic, target_is_directory=True)
    (place / "bare").mkdir()
    shutil.copy(arena / "summary.json", place / "bare")
    code, out, _ = cli("verify", str(place))
    assert code == 0
    assert f"note: {place / 'linked'} is a link to a folder: not verified" in out
    assert f"note: {place / 'bare'} holds summary.json without results.json: not verified" in out


def test_no_evaluation_plays_a_scenario_twice() -> None:
    scenario = make_scenario("db_deadlock")
    with pytest.raises(BadInput, match="more than once"):
        evaluate(["random"], [scenario, scenario])


def test_a_repeated_scenario_is_not_recounted(cli: Cli, arena: Path) -> None:
    forge(arena, repeat_one_seed)
    assert "more than once" in cli("recount", str(arena), "--no-figures").refusal


class Talker(FakeModel):
    """A local model, whose own words are not escaped, and one that cannot answer its first turn."""

    def _dress(self, request: DecisionRequest, decision: Decision) -> Decision:
        dressed = super()._dress(request, decision)
        assert dressed.exchange is not None
        if request.view.step == 0:
            return dressed._replace(
                action=failed_turn("too long"), exchange=dressed.exchange._replace(reply="")
            )
        words = 'I "see" it'
        reply = f'{{"action":"communicate","message":"{words}"}}'
        return dressed._replace(
            action=Communicate(words), exchange=dressed.exchange._replace(reply=reply)
        )


def test_own_words_and_failed_turns_of_a_model_pass(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chaosops.evaluation.players.load_team", lambda name: Team.of(Talker()))
    words = [*WORDS["arena"], "--policies", "fake", "--no-figures", "--out", str(tmp_path / "own")]
    assert cli("eval", *words).code == 0
    code, out, _ = cli("verify", str(tmp_path / "own"))
    assert code == 0, out
