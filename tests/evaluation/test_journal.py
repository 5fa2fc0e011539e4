from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaosops import Team, load_policy
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.journal import Journal
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.results import Results, save
from chaosops.report.tables import markdown_report, markdown_table, model_table
from chaosops.rollout import load_team
from tests.conftest import Outcome
from tests.fake_model import FakeModel

Cli = Callable[..., Outcome]

MATRIX = scenarios("published", seeds=2)


def run(path: Path, resume: bool = False, **options: Any) -> tuple[Results, list[str]]:
    said: list[str] = []
    policies = options.pop("policies", ["random", "oracle"])
    matrix: list[Scenario] = options.pop("matrix", MATRIX)
    with Journal(path, resume=resume, say=said.append) as journal:
        return evaluate(policies, matrix, journal=journal, **options), said


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> FakeModel:
    """The policy of every name."""
    fake = FakeModel()
    monkeypatch.setattr("chaosops.evaluation.players.load_team", lambda name: Team.of(fake))
    return fake


def test_what_the_journal_holds_is_not_played_again(tmp_path: Path, model: FakeModel) -> None:
    path = tmp_path / "episodes.jsonl"
    whole, said = run(path, policies=["fake"], side_by_side=4)
    assert said == []
    unbroken, asked = path.read_bytes(), model.asked
    lines = unbroken.splitlines(keepends=True)
    assert len(lines) == 1 + len(MATRIX)
    for kept in (0, 1, 5, len(MATRIX)):
        path.write_bytes(b"".join(lines[: 1 + kept]) + b'{"policy":"fake","scen')
        model.asked = 0
        again, said = run(path, resume=True, policies=["fake"])
        assert said == [f"resuming: {kept} of {len(MATRIX)} episodes were finished"]
        assert again == whole
        assert path.read_bytes() == unbroken
        done = sum(episode.steps for episode in whole.episodes["fake"][:kept])
        assert model.asked == asked - done


def test_a_revision_that_changed_meanwhile_is_told(tmp_path: Path, model: FakeModel) -> None:
    path = tmp_path / "episodes.jsonl"
    run(path, policies=["fake"])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]))
    model.asked, model.revision = 0, "4567def"
    results, _ = run(path, resume=True, policies=["fake"])
    assert results.manifest["policies"]["fake"]["revision"] == "0123abc, then 4567def"
    assert path.read_bytes().count(b'"status"') == 2
    for kept in (len(lines), 6):
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:kept]))
        model.asked = 0
        assert run(path, resume=True, policies=["fake"])[0] == results


def test_without_resume_a_journal_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    run(path)
    run(path, policies=["keyword"])
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert list(lines[0]["job"]["policies"]) == ["keyword"]
    assert {line["policy"] for line in lines[1:]} == {"keyword"}


def test_there_may_be_nothing_to_resume(tmp_path: Path) -> None:
    for number, content in enumerate((None, b"", b'{"format":"chaos')):
        path = tmp_path / f"{number}.jsonl"
        if content is not None:
            path.write_bytes(content)
        results, said = run(path, resume=True)
        assert said == [f"resuming: 0 of {2 * len(MATRIX)} episodes were finished"]
        assert results == evaluate(["random", "oracle"], MATRIX)
        assert run(path, resume=True)[0] == results


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"policies": ["random", "keyword"]},
            "policies keyword is new; policies oracle is missing",
        ),
        ({"policies": ["random"]}, "policies oracle is missing"),
        ({"matrix": MATRIX[:-1]}, f"scenarios {len(MATRIX) - 1} is missing"),
        ({"matrix": [*MATRIX[1:], MATRIX[0]]}, "scenarios 0 seed was "),
    ],
)
def test_another_job_is_named(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    path = tmp_path / "episodes.jsonl"
    run(path)
    before = path.read_bytes()
    with pytest.raises(BadInput) as caught:
        run(path, resume=True, **options)
    assert said in str(caught.value)
    assert "pass --force instead of --resume" in str(caught.value)
    assert path.read_bytes() == before


def test_another_version_is_another_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "episodes.jsonl"
    run(path)
    monkeypatch.setattr("chaosops.evaluation.evaluate.VERSION", "9.9")
    monkeypatch.setattr("chaosops.evaluation.evaluate.source_commit", lambda: "feed")
    with pytest.raises(BadInput, match=r"version was '.*', is '9.9'; commit was .*, is 'feed'"):
        run(path, resume=True)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (b"{}", "is not a journal of chaosops eval"),
        (b"mine", "is not a journal of chaosops eval"),
        (b'{"format":"chaosops journal 1","job":{}}', "is of another version of chaosops"),
    ],
)
def test_a_journal_without_its_header_is_named(tmp_path: Path, header: bytes, said: str) -> None:
    path = tmp_path / "episodes.jsonl"
    run(path)
    spoiled = b"\n".join([header, *path.read_bytes().splitlines()[1:]]) + b"\n"
    path.write_bytes(spoiled)
    with pytest.raises(BadInput) as caught:
        run(path, resume=True)
    assert said in str(caught.value)
    assert path.read_bytes() == spoiled


def edited(line: bytes, **changes: Any) -> bytes:
    return json.dumps({**json.loads(line), **changes}).encode()


@pytest.mark.parametrize(
    ("spoil", "lost"),
    [
        (lambda lines: [*lines[:3], lines[3][:40], *lines[4:]], 1),
        (lambda lines: [*lines[:3], b"\0" * 512, *lines[4:]], 1),
        (lambda lines: [*lines[:3], b"[]", b"{}", *lines[4:]], 1),
        (lambda lines: [*lines[:3], *lines[4:]], 2),  # the next one is not chained to the last
        (lambda lines: [*lines, lines[-1]], 0),
        (lambda lines: [lines[0], edited(lines[1], reward=7.0), *lines[2:]], 1),
        (lambda lines: [*lines[:5], edited(lines[5], policy="mine"), *lines[6:]], 1),
        (lambda lines: [*lines[:5], edited(lines[5], chain=None), *lines[6:]], 1),
        (lambda lines: [*lines[:5], edited(lines[5], turns=[]), *lines[6:]], 1),
        (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], 3),
    ],
)
def test_a_damaged_line_costs_its_episode(tmp_path: Path, spoil: Any, lost: int) -> None:
    path = tmp_path / "episodes.jsonl"
    whole, _ = run(path)
    unbroken = path.read_bytes()
    path.write_bytes(b"\n".join(spoil(unbroken.splitlines())) + b"\n")
    again, said = run(path, resume=True)
    assert again == whole
    assert path.read_bytes() == unbroken
    assert "damaged lines are left out" in said[0]
    total = 2 * len(MATRIX)
    assert said[1:] == [f"resuming: {total - lost} of {total} episodes were finished"]


@pytest.fixture
def talkers(monkeypatch: pytest.MonkeyPatch) -> None:
    """``fake`` is a language model that fails to write an action on its second turn."""

    def load(name: str) -> Team:
        if name == "fake":
            return Team.of(FakeModel("oracle", {2: "I flag it!"}))
        if name == "half":
            scripts = dict.fromkeys(Role, load_policy("oracle"))
            return Team({**scripts, Role.OVERSIGHT: FakeModel()}, name)
        return load_team(name)

    monkeypatch.setattr("chaosops.evaluation.players.load_team", load)


@pytest.mark.usefixtures("talkers")
def test_a_language_model_gets_figures_of_its_own(tmp_path: Path) -> None:
    matrix = scenarios("published", tiers=[Tier.EASY], seeds=2)
    results = evaluate(["fake", "half", "oracle"], matrix)
    fake, half, oracle = results.summary()
    assert fake["unreadable_replies"] == 1.0
    assert fake["tokens_read"] > half["tokens_read"] > 0
    assert fake["tokens_written"] > half["tokens_written"] > 0
    assert half["unreadable_replies"] == 0.0
    assert "tokens_read" not in oracle
    table = model_table(results)
    head, _, *rows = table.split("\n\n")[1].splitlines()
    assert [cell.strip() for cell in head.strip("|").split("|")] == [
        *("policy", "model", "revision", "adapter", "backend", "format"),
        *("unreadable replies", "failed turns"),
        *("tokens read / written per episode", "US dollars per episode"),
    ]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    dash = "\N{EN DASH}"
    assert [row[0] for row in cells] == ["fake", "half"]
    assert cells[0][1:7] == ["fake/tiny-1b", "0123abc", dash, "script", dash, "1.00"]
    read, written = (int(n.replace(",", "")) for n in cells[0][8].split(" / "))
    assert (read, written) == (round(fake["tokens_read"]), round(fake["tokens_written"]))
    assert cells[0][9] == dash
    manifest = dict(results.manifest)
    manifest["policies"] = {"fake": {"kind": "model", "price_usd_per_million": [1000.0, 0.0]}}
    priced = model_table(Results(manifest, {"fake": results.episodes["fake"]}))
    assert f"| {fake['tokens_read'] / 1000:.4f} |" in " ".join(priced.split()).replace("  ", " ")
    assert table in markdown_report(results)
    assert "tokens" not in markdown_table(results.summary())
    stored = json.loads(save(results, tmp_path).read_text())
    assert stored["episodes"][0]["turns"][1]["reply"] == "I flag it!"


def test_scripts_get_no_such_table() -> None:
    results = evaluate(["random", "oracle"], MATRIX[:3])
    assert model_table(results) == ""
    assert "Language models" not in markdown_report(results)


@pytest.mark.usefixtures("talkers")
def test_episodes_can_be_saved_and_replayed(cli: Cli, tmp_path: Path) -> None:
    words = ["--matrix", "published", "--tiers", "easy", "--seeds", "1", "--no-figures"]
    stale = tmp_path / "episodes" / "fake" / "0099.json"
    stale.parent.mkdir(parents=True)
    stale.touch()
    code, out, _ = cli(
        "eval", "--policies", "fake,oracle", *words, "--save-episodes", "--out", str(tmp_path)
    )
    assert code == 0
    assert "Language models:" in out
    assert f"episodes for chaosops replay: {tmp_path / 'episodes' / 'fake'}" in out
    assert {path.name for path in (tmp_path / "episodes").iterdir()} == {"fake", "oracle"}
    files = sorted((tmp_path / "episodes" / "fake").iterdir())
    assert [path.name for path in files] == [f"{n:04}.json" for n in range(1, len(files) + 1)]
    for path in (files[0], tmp_path / "episodes" / "oracle" / files[0].name):
        code, out, _ = cli("replay", str(path))
        assert (code, "reproduced" in out) == (0, True)
