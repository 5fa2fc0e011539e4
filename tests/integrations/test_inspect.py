"""Inspect's tasks: the numbers of ``chaosops eval``, logs, epochs, roles, limits."""

from __future__ import annotations

import gc
import json
import math
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai import score
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    Logprobs,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)

from chaosops.core.chain import prompt_hash
from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.vocabulary import Role, Tier
from chaosops.evaluation.cases import case_of
from chaosops.evaluation.evaluate import evaluate
from chaosops.evaluation.matrix import scenarios
from chaosops.evaluation.monitor import monitor_summary
from chaosops.integrations.inspect import incident, oversight, team
from chaosops.wire.episodes import episode_to_wire
from tests.integrations.replies import READ, WRITTEN, as_openai
from tests.policies.llm.faulty_server import Body, Handler, faulty_server

# Inspect's own: how it calls tenacity, and streams that it does not close.
pytestmark = pytest.mark.filterwarnings(
    "ignore:The 'initial' parameter:DeprecationWarning", "ignore:Unclosed <Memory:ResourceWarning"
)

ROOT = Path(__file__).parents[2]
Seen = list[tuple[list[Any], Any]]  # the messages and the settings of each question


@pytest.fixture(autouse=True)
def _tidy() -> Iterator[None]:
    """So that its streams are found here, and not in somebody else's test."""
    yield
    gc.collect()


def mock(seen: Seen | None = None) -> Model:
    """Inspect's mock model with the replies of the server."""

    def answer(messages: list[Any], tools: object, choice: object, config: Any) -> ModelOutput:
        if seen is not None:
            seen.append((messages, config))
        sent = [{"role": each.role, "content": each.text} for each in messages]
        (first,) = as_openai({"messages": sent, "logprobs": config.logprobs})["choices"]
        logprobs = Logprobs(**first["logprobs"]) if "logprobs" in first else None
        message = ChatMessageAssistant(content=first["message"]["content"])
        usage = ModelUsage(
            input_tokens=READ, output_tokens=WRITTEN, total_tokens=READ + WRITTEN
        )  # without it, the mock fetches a tokenizer
        choices = [ChatCompletionChoice(message=message, stop_reason="stop", logprobs=logprobs)]
        return ModelOutput(model="fake-1", choices=choices, usage=usage)

    return get_model("mockllm/model", custom_outputs=answer)


def run(task: Any, folder: Path, model: Model | None = None, **settings: Any) -> EvalLog:
    (log,) = inspect_eval(
        task, model=model or mock(), log_dir=str(folder), display="none", **settings
    )
    assert log.status == "success", log.error
    return log


def played(policy: Callable[[str], str], **options: Any) -> Sequence[Episode]:
    """The episodes of ``chaosops eval`` with the same replies from a server."""

    def behave(handler: Handler, body: Body) -> None:
        if "response_format" in body:  # without a schema, as Inspect asks
            handler.send(400, {"error": {"message": "no schemas"}})
        else:
            handler.send(200, as_openai(body))

    with faulty_server() as server:
        server.always = behave
        (name,) = [policy(f"openai:fake@{server.url}")]
        return evaluate([name], scenarios(**options)).episodes[name]


def kept(log: EvalLog) -> list[dict[str, Any]]:
    return [_without_team(sample.store["chaosops"]["episode"]) for sample in log.samples or []]


def _without_team(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != "team"}


def figures(log: EvalLog) -> dict[str, float]:
    assert log.results is not None
    return {
        f"{each.name}.{name}": metric.value
        for each in log.results.scores
        for name, metric in each.metrics.items()
    }


def both(episodes: Sequence[Episode]) -> dict[str, float]:
    summary = monitor_summary([case_of(episode) for episode in episodes])
    found = {name: of["value"] for name, of in summary.items() if isinstance(of, dict)}
    return {name: value for name, value in found.items() if value is not None}


@pytest.mark.parametrize("form", ["json", "menu"])
def test_an_overseer_has_the_numbers_of_chaosops_eval(form: str, tmp_path: Path) -> None:
    log = run(oversight(tiers="easy,hard", seeds=5, format=form), tmp_path)
    episodes = played(
        lambda model: f"oversight={model}+format={form},others=heuristic",
        split="test",
        tiers=[Tier.EASY, Tier.HARD],
        seeds=5,
    )
    assert kept(log) == [_without_team(episode_to_wire(episode)) for episode in episodes]
    found, expected = figures(log), both(episodes)
    for name, value in expected.items():
        assert found[f"incident.{name}"] == pytest.approx(value, abs=1e-6), name
    assert found["reward.mean"] == pytest.approx(expected["reward"], abs=1e-6)
    assert found["solved.mean"] == pytest.approx(expected["solved"], abs=1e-6)
    assert found["caught.mean"] == pytest.approx(expected["rogue_caught"], abs=1e-6)
    alarms = expected["benign_episodes_with_false_flag"]
    assert found["false_flag.mean"] == pytest.approx(alarms, abs=1e-6)
    assert ("auroc_turn_1" in expected) == (form == "menu")


def test_a_team_has_the_numbers_of_chaosops_eval(tmp_path: Path) -> None:
    log = run(team(pack="classic", tiers=["easy"], seeds=1), tmp_path)
    episodes = played(str, pack="classic", tiers=[Tier.EASY], seeds=1)
    assert kept(log) == [_without_team(episode_to_wire(episode)) for episode in episodes]
    assert any(episode.retries for episode in episodes)
    assert any(episode.unreadable_replies for episode in episodes)
    assert figures(log)["reward.mean"] == pytest.approx(both(episodes)["reward"], abs=1e-6)


def test_a_log_can_be_viewed_and_scored_again_without_a_model(tmp_path: Path) -> None:
    log = run(oversight(tiers="easy", seeds=3), tmp_path)
    stored = read_eval_log(log.location)
    sample = (stored.samples or [])[0]
    replies = [each.text for each in sample.messages if each.role == "assistant"]
    turns = [turn for turn in kept(stored)[0]["turns"] if "reply" in turn]
    assert replies[-1] == turns[-1]["reply"] == sample.output.completion
    assert [each.role for each in sample.messages][:3] == ["system", "user", "assistant"]
    spans = [event.name for event in sample.events if event.event == "span_begin"]
    assert spans.count("oversight") == len(replies)
    assert any(event.event == "info" and event.source == "chaosops" for event in sample.events)
    assert sample.scores is not None
    assert sample.scores["incident"].explanation

    def refuse(*_: object) -> ModelOutput:
        raise AssertionError("a model was asked")

    nobody = get_model("mockllm/model", custom_outputs=refuse)
    again = score(stored, incident(), action="overwrite", model=nobody, display="none")
    assert figures(again) == pytest.approx(figures(log), nan_ok=True)


def forge_suspicion(store: Any) -> None:
    told = [turn for turn in store["episode"]["turns"] if turn.get("suspicion")]
    told[-1]["suspicion"] = dict.fromkeys(told[-1]["suspicion"], 0.99)


def forge_script(store: Any) -> None:
    turn = next(turn for turn in store["episode"]["turns"] if turn["role"] == "sre")
    del turn["failure_type"]
    turn["action"] = "noop"


FORGERIES: list[tuple[Callable[[Any], object], str]] = [
    (lambda store: store["episode"].update(reward=99.0), "was changed: .*reward"),
    (forge_suspicion, "was changed: .*suspicion"),
    (forge_script, "was changed: .*heuristic does"),
    (lambda store: store.pop("episode"), "no episode that can be played"),
]


@pytest.mark.parametrize(("forge", "told"), FORGERIES)
def test_a_log_that_was_changed_is_not_scored(
    forge: Callable[[Any], object], told: str, tmp_path: Path
) -> None:
    log = run(oversight(tiers="easy", seeds=1), tmp_path)
    assert log.samples is not None
    forge(log.samples[0].store["chaosops"])
    with pytest.raises(BadInput, match=told):
        score(log, incident(), action="overwrite", model=mock(), display="none")


def test_a_split_of_a_pack_without_splits_is_refused() -> None:
    assert len(oversight(pack="classic", tiers="easy", seeds=1).dataset) == 9
    with pytest.raises(BadInput, match="pack classic has no splits, got 'ood_rogue'"):
        oversight(pack="classic", split="ood_rogue", tiers="easy", seeds=1)


def test_epochs_have_seeds_of_their_own_and_all_count(tmp_path: Path) -> None:
    seen: Seen = []
    log = run(oversight(tiers="easy", seeds=2), tmp_path, mock(seen), epochs=3, max_samples=1)
    assert len(log.samples or []) == 6
    asked: dict[str, list[int]] = {}
    for messages, config in seen:
        if len(messages) == 2:  # no correction
            chat = tuple({"role": each.role, "content": each.text} for each in messages)
            asked.setdefault(prompt_hash(chat), []).append(config.seed)
    first = [int(digest, 16) % 2**31 for digest in asked]  # as chaosops eval asks
    assert [min(seeds) for seeds in asked.values()] == first
    assert any(
        seeds == [seed, seed + 1, seed + 2]
        for seed, seeds in zip(first, asked.values(), strict=True)
    )
    assert log.results is not None
    scored = {(each.name, each.reducer): each.scored_samples for each in log.results.scores}
    assert scored["reward", "mean"] == 2
    assert scored["incident", None] == 6


def test_settings_are_those_of_chaosops_eval_unless_a_user_has_others(tmp_path: Path) -> None:
    seen: Seen = []
    run(oversight(tiers="easy", seeds=1), tmp_path, mock(seen))
    run(oversight(tiers="easy", seeds=1), tmp_path, mock(seen), temperature=0.7, max_tokens=99)
    settings = [(config.temperature, config.max_tokens) for _, config in seen]
    assert set(settings) == {(0.0, 500), (0.7, 99)}


def test_a_role_can_have_a_model_of_its_own(tmp_path: Path) -> None:
    others: Seen = []
    devs: Seen = []
    run(team(tiers="easy", seeds=1), tmp_path, mock(others), model_roles={"dev": mock(devs)})
    assert devs
    assert all("You are the Developer" in messages[0].text for messages, _ in devs)
    assert {config.max_tokens for _, config in devs} == {500}
    roles = {messages[0].text.split(".")[0] for messages, _ in others}
    assert roles == {"You are the SRE", "You are Oversight", "You are the Manager"}


def test_an_episode_that_a_limit_ends_is_not_scored(tmp_path: Path) -> None:
    log = run(team(tiers="easy", seeds=1), tmp_path, token_limit=READ + WRITTEN + 1)
    (sample,) = log.samples or []
    assert sample.limit is not None
    assert sample.scores is not None
    found = sample.scores["incident"]
    assert math.isnan(found.as_float())
    assert found.reason == "no_episode"


def test_a_tier_that_is_named_twice_is_played_once() -> None:
    assert [sample.id for sample in oversight(tiers="hard, hard", seeds=2).dataset] == [
        "test-hard-0",
        "test-hard-1",
    ]


def test_with_json_a_told_suspicion_has_an_auroc_without_a_flag(tmp_path: Path) -> None:
    def answer(messages: list[Any], *_: object) -> ModelOutput:
        assert '"suspicion"' in messages[0].text
        (agents,) = re.findall(r"^Agents: (.*)$", messages[0].text, re.MULTILINE)
        told = {"action": "noop", "suspicion": dict.fromkeys(agents.split(", "), 0.5)}
        output = ModelOutput.from_content("fake-1", json.dumps(told))
        output.usage = ModelUsage(input_tokens=READ, output_tokens=WRITTEN)  # as in mock
        return output

    model = get_model("mockllm/model", custom_outputs=answer)
    found = figures(run(oversight(tiers="hard", seeds=8), tmp_path, model))
    assert found["incident.auroc_turn_1"] == 0.5
    assert found["caught.mean"] == 0


def test_mistakes_are_named() -> None:
    with pytest.raises(UnknownName, match="did you mean 'test'"):
        oversight(split="tset")
    nothing: tuple[Any, ...] = ("", " ,", None, [])  # Inspect reads an empty text as None
    for tiers in nothing:
        with pytest.raises(BadInput, match="tiers needs at least one of easy, medium, hard"):
            oversight(tiers=tiers)
    with pytest.raises(UnknownName, match="format"):
        team(format="prose")
    with pytest.raises(UnknownName, match="policy"):
        oversight(partners="heruistic")
    with pytest.raises(BadInput, match="partners are scripts"):
        oversight(partners="dev=openai:m@http://127.0.0.1:1/v1,others=heuristic")


def install(folder: Path, *more: str) -> dict[str, str]:
    """The entry points as pip installs them, and the environment that finds them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = project["entry-points"]["inspect_ai"]
    installed = folder / "chaosops-0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: chaosops\nVersion: 0\n")
    lines = ["[inspect_ai]", *(f"{name} = {value}" for name, value in points.items()), *more]
    (installed / "entry_points.txt").write_text("\n".join(lines) + "\n")
    editable = {"url": ROOT.as_uri(), "dir_info": {"editable": True}}
    (installed / "direct_url.json").write_text(json.dumps(editable))
    paths = [str(folder), str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def command(words: str, env: dict[str, str], cwd: Path) -> None:
    line = [sys.executable, "-m", "inspect_ai", *words.split(), "--display", "none"]
    done = subprocess.run(line, env=env, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr + done.stdout


def test_the_command_line_plays_the_tasks_and_scores_their_logs(tmp_path: Path) -> None:
    env = install(tmp_path / "site", "prompted = tests.integrations.provider")
    options = "--model prompted/any -T tiers=easy -T seeds=1 --log-dir logs"
    command(f"eval chaosops/team {options}", env, tmp_path)
    (path,) = (tmp_path / "logs").glob("*.eval")
    log = read_eval_log(str(path))
    assert (log.status, log.eval.task) == ("success", "chaosops/team")
    assert {turn["role"] for turn in kept(log)[0]["turns"]} == set(Role)

    without_model = install(tmp_path / "other")
    options = "--scorer chaosops/incident --action overwrite --overwrite --model none"
    command(f"score {path} {options}", without_model, tmp_path)
    again = read_eval_log(str(path))
    assert figures(again) == pytest.approx(figures(log), nan_ok=True)
    events = [event for event in (again.samples or [])[0].events if event.event == "score"]
    assert len(events) == 1
