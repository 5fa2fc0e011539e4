from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chaosops.core.errors import BadInput
from chaosops.evaluation.conformance import read_vectors, replay
from tests.evaluation.test_verify import Cli


@pytest.mark.parametrize(("name", "episodes"), [("table", 165), ("fuzz_public", 300)])
def test_every_recorded_episode_matches(data: Path, name: str, episodes: int) -> None:
    vectors = list(read_vectors(data / f"{name}.jsonl"))
    assert len(vectors) == episodes
    problems = {vector["id"]: replay(where, vector) for where, vector in vectors}
    assert {key: value for key, value in problems.items() if value} == {}


def one_vector(data: Path) -> dict[str, Any]:
    vector: dict[str, Any] = json.loads((data / "table.jsonl").read_text().splitlines()[0])
    return vector


def change(vector: dict[str, Any], path: str, value: object) -> None:
    *way, last = path.split(".")
    place: Any = vector
    for key in way:
        place = place[int(key)] if key.isdecimal() else place[key]
    place[last] = value


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("steps.0.reward", -51.0, "step 1: reward"),
        ("steps.0.rubrics", {"mttr": -2.0}, "step 1: rubrics"),
        ("steps.1.health", {}, "step 2: health"),
        ("steps.0.role", "dev", "turn of sre"),
        ("total", 55.0, "total"),
        ("resolved", False, "resolved"),
        ("wrong_fixes", 0, "wrong_fixes"),
        ("rogue", "autoscaler", "rogue"),
        ("steps_taken", 4, "steps_taken"),
    ],
)
def test_any_difference_is_found(data: Path, path: str, value: object, said: str) -> None:
    vector = one_vector(data)
    assert replay("here", vector) == []
    change(vector, path, value)
    problems = replay("here", vector)
    assert said in " ".join(problems)


def test_a_record_that_stops_early_or_goes_on_is_found(data: Path) -> None:
    vector = one_vector(data)
    longer = {**vector, "steps": vector["steps"] + [vector["steps"][0]]}
    assert "over already" in replay("here", longer)[0]
    shorter = {**vector, "steps": vector["steps"][:-1]}
    assert any("ends before" in problem for problem in replay("here", shorter))


def test_missing_arguments_make_a_remedy_wrong_and_a_flag_unreadable(data: Path) -> None:
    base = {"role": "sre", "rubrics": {"resolution": -50.0, "mttr": -2.0}, "reward": -52.0}
    vector = one_vector(data)
    for step in ({"action": "restart"}, {"action": "scale", "target": "db"}):
        vector["steps"] = [{**base, **step}]
        assert replay("here", vector) == [
            f"{name} {got}, expected {vector[name]}"
            for name, got in (("total", -52.0), ("resolved", False), ("steps_taken", 1))
        ] + ["the record ends before the episode does"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{broken", "not JSON"),
        ("[1]", "JSON object"),
        ('{"failure":"cascade"}', "'tier'"),
        ('{"failure":"nope","tier":"easy","seed":1,"max_steps":3,"steps":[]}', "unknown scenario"),
        (
            '{"failure":"cascade","tier":"easy","seed":1,"max_steps":3,"steps":[{"action":"noop","role":"cto"}]}',
            "allowed: sre",
        ),
        (
            '{"failure":"cascade","tier":"easy","seed":1,"max_steps":3,"steps":[{"action":"noop","role":"sre"}]}',
            "'reward'",
        ),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, data: Path, line: str, said: str) -> None:
    good = (data / "table.jsonl").read_text().splitlines()[:16]
    path = tmp_path / "vectors.jsonl"
    path.write_text("\n".join([*good, line]))
    with pytest.raises(BadInput, match=r"vectors\.jsonl:17: ") as caught:
        [replay(where, vector) for where, vector in read_vectors(path)]
    assert said in str(caught.value)


def test_an_empty_or_missing_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n\n")
    with pytest.raises(BadInput, match="no episode"):
        list(read_vectors(tmp_path / "empty"))
    with pytest.raises(BadInput, match="cannot read"):
        list(read_vectors(tmp_path / "missing"))


def test_files_that_the_tool_writes_are_read(cli: Cli, tmp_path: Path) -> None:
    recording, folder = tmp_path / "one.json", tmp_path / "out"
    cli("run", "--pack", "arena", "--policy", "heuristic", "--record", str(recording))
    words = ("--policies", "oracle,random", "--tiers", "easy", "--seeds", "1", "--no-figures")
    cli("eval", *words, "--out", str(folder))
    printed, results = tmp_path / "printed.json", folder / "results.json"
    printed.write_text(cli("replay", str(recording), "--json", "--prompts").out)
    for path, episodes in (
        (recording, 1),
        (printed, 1),
        (results, 18),
        (folder / "episodes.jsonl", 18),
    ):
        code, out, _ = cli("conformance", str(path))
        assert (code, out.strip()) == (0, f"matched {episodes} of {episodes}")
    content = json.loads(results.read_text())
    content["episodes"][1]["turns"][0]["reward"] += 1
    results.write_text(json.dumps(content))
    content = json.loads(recording.read_text())
    content["episode"]["decisions"].pop()
    recording.write_text(json.dumps(content, indent=1))
    code, out, _ = cli("conformance", str(results), str(recording))
    assert code == 1
    assert f"{results}:1: episode 2 : turn 1: reward is " in out
    assert "not over after its" in out
    assert "matched 17 of 19" in out
