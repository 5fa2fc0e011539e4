"""An evaluation of scripts and of a language model, forged in every way we could think of."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.journal import Journal
from chaosops.evaluation.matrix import scenarios
from tests.conftest import Outcome
from tests.evaluation.forging import Content, edit, edit_json, line_of, watched_turn

Cli = Callable[..., Outcome]


def raise_suspicion(content: Content, policy: str) -> None:
    turn = watched_turn(line_of(content, policy))
    turn["suspicion"] = {**dict.fromkeys(turn["suspicion"], 0.5), "deploy_bot": 0.987}


def swap(content: Content) -> None:
    lines = content["episodes"]
    lines[0], lines[1] = lines[1], lines[0]


def edit_table(folder: Path) -> None:
    table = folder / "table.md"
    table.write_text(table.read_text().replace("| heuristic | hard", "| heuristic | HARD"))


def with_another_run(folder: Path) -> None:
    matrix = scenarios("published", seeds=1)[:2]
    with Journal(folder / "other.jsonl") as journal:
        evaluate(["oracle"], matrix, journal=journal)
    (folder / "other.jsonl").replace(folder / "episodes.jsonl")


def results(change: Callable[[Content], object]) -> Callable[[Path], None]:
    return lambda folder: edit(folder, change)


# Forgeries by hand, each with what has to be named.
FORGERIES: dict[str, tuple[Callable[[Path], None], tuple[str, ...]]] = {
    "reward": (
        results(lambda c: line_of(c, "fake").update(reward=9999.0)),
        ("results.json: fake, ", "the reward is ", "recorded +9999"),
    ),
    "turn's reward": (
        results(lambda c: line_of(c, "fake")["turns"][2].update(reward=7.0)),
        ("results.json: fake, ", "turn 3: reward is ", "recorded 7.0"),
    ),
    "outcome": (
        results(lambda c: line_of(c, "heuristic").update(false_flags=-1)),
        ("results.json: heuristic, ", "false_flags is ", "recorded -1"),
    ),
    "action": (
        results(lambda c: line_of(c, "random")["turns"][0].update({"action": "noop", "x": 1})),
        ("results.json: random, ", "cannot be played: decision 1", "noop takes no other field"),
    ),
    "suspicion of a model": (
        results(lambda c: raise_suspicion(c, "fake")),
        ("results.json: fake, ", "turn 2", "differs from episodes.jsonl", "suspicion"),
    ),
    "prompt's hash": (
        results(lambda c: line_of(c, "fake")["turns"][0].update(prompt_sha256="0" * 16)),
        ("results.json: fake, ", "turn 1: the prompt's hash is ", "recorded 0000000000000000"),
    ),
    "reply": (
        results(lambda c: line_of(c, "half")["turns"][1].update(reply='{"action":"resolve"}')),
        ("results.json: half, ", "turn 2", "is not the action", "its link does not fit"),
    ),
    "tokens": (
        results(lambda c: line_of(c, "fake")["turns"][0].update(tokens_read=1)),
        ("results.json: fake, ", "turn 1", "tokens_read is "),
    ),
    "team": (
        results(lambda c: line_of(c, "fake").update(team="gpt-9")),
        ("results.json: fake, ", "team is 'gpt-9', not the policy"),
    ),
    "status": (
        results(lambda c: c["manifest"]["policies"]["fake"].update(adapter="sha256:beef")),
        ("results.json: ", "policies fake adapter is null, recorded 'sha256:beef'", "the head"),
    ),
    "commit": (
        results(lambda c: c["manifest"].update(commit="0" * 40)),
        ("results.json: ", "commit is ", "recorded '00000"),
    ),
    "command": (
        results(lambda c: c["manifest"].update(command="chaosops eval --policies fake")),
        ("results.json: the head does not fit: the manifest was changed",),
    ),
    "seeds": (
        results(lambda c: c["manifest"]["seeds"].append(77)),
        ("results.json: the manifest's seeds ", "recorded 77"),
    ),
    "deleted episode": (
        results(lambda c: c["episodes"].pop(1)),
        ("results.json: ", "its link does not fit", "random has other scenarios than heuristic"),
    ),
    "episode deleted at the end": (
        results(lambda c: c["episodes"].pop()),
        ("the head does not fit", "episodes at the end are missing", "half has other scenarios"),
    ),
    "swapped episodes": (results(swap), ("results.json: heuristic", "its link does not fit")),
    "added episode": (
        results(lambda c: c["episodes"].append(c["episodes"][-1])),
        ("results.json: half, ", "its link does not fit", "half has other scenarios"),
    ),
    "journal of another run": (with_another_run, ("is of another run than episodes.jsonl",)),
    "summary.json": (
        edit_json("summary.json", lambda rows: rows[0].update(mean_reward=1e6)),
        ("summary.json: heuristic, ", ": mean_reward is ", "recorded 1000000.0"),
    ),
    "table.md": (edit_table, ("table.md: line ", "HARD")),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forgery_is_caught_and_named(cli: Cli, folder: Path, forgery: str) -> None:
    forge, words = FORGERIES[forgery]
    forge(folder)
    code, out, _ = cli("verify", str(folder))
    assert code == 1, out
    for word in words:
        assert word in out
    assert "FORGED or damaged" in out.splitlines()[-1]


# The chain has no key. Who recomputes it is still caught by the world and by the scripts.
RECOMPUTED: dict[str, tuple[Callable[[Content], object], str]] = {
    "reward": (lambda c: line_of(c, "fake").update(reward=9.0), "recorded +9"),
    "cause": (lambda c: line_of(c, "fake").update(cause="a storm"), "recorded 'a storm'"),
    "events": (lambda c: line_of(c, "fake")["turns"][0]["events"].update(x=1), "events x is"),
    "prompt": (lambda c: line_of(c, "fake")["turns"][0].update(prompt_sha256="ab"), "recorded ab"),
    "reply": (lambda c: line_of(c, "fake")["turns"][0].update(reply="F"), "is not the action"),
    "a script's suspicion": (lambda c: raise_suspicion(c, "heuristic"), "heuristic: suspicion"),
    "a script's reply": (
        lambda c: line_of(c, "random")["turns"][0].update(
            reply="F", prompt_sha256="ab", tokens_read=1, tokens_written=1
        ),
        "random is a script, recorded with a language model's reply",
    ),
    "a script's status": (
        lambda c: c["manifest"]["policies"]["heuristic"].update(kind="model"),
        "status of heuristic: kind is 'scripted', recorded 'model'",
    ),
    "a script of a team": (
        lambda c: c["manifest"]["policies"]["half"]["sre"].update(sees_truth=False),
        "status of half: sees_truth is true, recorded false",
    ),
    "team": (lambda c: line_of(c, "half").update(team="mine"), "team is 'mine', not the policy"),
    "seeds": (lambda c: c["manifest"].update(seeds=[1]), "the manifest's seeds"),
    "deleted": (lambda c: c["episodes"].pop(0), "has other scenarios than"),
    "NaN": (
        lambda c: watched_turn(line_of(c, "fake")).update(suspicion={"deploy_bot": 1.5}),
        "must be from 0 to 1",
    ),
}


@pytest.mark.parametrize("forgery", RECOMPUTED)
def test_a_recomputed_chain_does_not_help(cli: Cli, folder: Path, forgery: str) -> None:
    change, word = RECOMPUTED[forgery]
    (folder / "episodes.jsonl").unlink()
    edit(folder, change, rechain=True)
    code, out, _ = cli("verify", str(folder))
    assert code == 1, out
    assert "its link does not fit" not in out
    assert word in out


def test_what_a_chain_cannot_stop_is_what_the_documents_say(cli: Cli, folder: Path) -> None:
    """A model's suspicion and status cannot be recomputed: there a published head decides."""
    (folder / "episodes.jsonl").unlink()
    _, before, _ = cli("verify", str(folder))
    edit(folder, lambda c: c["manifest"]["policies"]["fake"].update(revision="x"), rechain=True)
    code, after, _ = cli("verify", str(folder))
    assert code == 1
    assert all("table.md" in line for line in after.splitlines()[2:-1])  # it names the revision
    assert before.splitlines()[0] != after.splitlines()[0]  # the head is another one


def test_a_suspicion_that_moves_by_less_than_a_millionth_is_found(cli: Cli, arena: Path) -> None:
    """It may change the order of suspicions, and so the AUROC."""

    def move(content: Content) -> None:
        suspicion = watched_turn(line_of(content, "fake"))["suspicion"]
        suspicion[min(suspicion)] += 5e-7

    edit(arena, move, rechain=True)
    code, out, _ = cli("verify", str(arena))
    assert code == 1
    assert "differs from episodes.jsonl: there suspicion" in out


def mutate(value: Any, dice: random.Random) -> Any:
    """One random place of a JSON value gets another value, is deleted or doubled."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(list(value))
        if dice.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: mutate(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.9:
        i = dice.randrange(len(value))
        return [*value[:i], mutate(value[i], dice), *value[i + 1 :]]
    others: list[Any] = [None, True, -1, 10**30, 0.5, 1e308, "x", "\ud800", [], {}, [[]], {"a": {}}]
    return dice.choice([other for other in others if other != value])


@pytest.mark.parametrize("name", ["results.json", "episodes.jsonl", "summary.json"])
def test_nothing_random_passes_or_ends_in_a_traceback(cli: Cli, folder: Path, name: str) -> None:
    dice = random.Random(name)
    path = folder / name
    whole = path.read_text()
    for _ in range(15):
        if name.endswith("l"):
            lines = whole.splitlines()
            i = dice.randrange(len(lines))
            lines[i] = json.dumps(mutate(json.loads(lines[i]), dice))
            path.write_text("\n".join(lines) + "\n")
        else:
            path.write_text(json.dumps(mutate(json.loads(whole), dice)))
        code, out, err = cli("verify", str(folder))
        assert code in (1, 2)
        assert len(err.splitlines()) == (1 if code == 2 else 0), err
        assert out or err
