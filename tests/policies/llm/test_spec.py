from __future__ import annotations

import pytest

from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.core.vocabulary import Role
from chaosops.policies.llm.formats import load_format
from chaosops.policies.llm.spec import is_model, read_spec
from chaosops.rollout import load_team


@pytest.mark.parametrize(
    ("text", "kind", "model", "options"),
    [
        ("local:smollm2", "local", "smollm2", {}),
        ("hf:Qwen/Qwen2.5-3B-Instruct", "hf", "Qwen/Qwen2.5-3B-Instruct", {}),
        ("models/mine", "path", "models/mine", {}),
        ("mine.gguf+adapter=a/b", "path", "mine.gguf", {"adapter": "a/b"}),
        (
            "local:smollm2+adapter=runs/x+1+format=menu",
            "local",
            "smollm2",
            {"adapter": "runs/x+1", "format": "menu"},
        ),
    ],
)
def test_a_model_is_named(text: str, kind: str, model: str, options: dict[str, str]) -> None:
    assert is_model(text)
    spec = read_spec(text)
    assert (spec.kind, spec.model, spec.options) == (kind, model, options)


def test_an_endpoint_has_a_model_and_a_url() -> None:
    spec = read_spec("openai:org/m:tag@http://127.0.0.1:1/v1+concurrency=4")
    assert (spec.model, spec.url) == ("org/m:tag", "http://127.0.0.1:1/v1")
    assert spec.number("concurrency", 8) == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("local:smollm2+adaptor=x", "did you mean 'adapter'"),
        ("local:smollm2+adapter=", "is empty"),
        ("local:smollm2+format=menu+format=json", "occurs twice"),
        ("openai:gpt", "write openai:MODEL@URL"),
        ("local:", "names no model"),
    ],
)
def test_what_cannot_be_read_says_what_to_write(text: str, words: str) -> None:
    with pytest.raises(ChaosOpsError, match=words):
        read_spec(text)


def test_numbers_are_checked() -> None:
    with pytest.raises(BadInput, match="expected a number from 0"):
        read_spec("local:smollm2+temperature=warm").number("temperature", 0)
    with pytest.raises(ChaosOpsError, match="unknown format"):
        load_format("xml")


def test_a_team_may_hold_models_with_options() -> None:
    team = load_team("oversight=oracle,others=heuristic")
    assert team.policies[Role.DEV].name == "heuristic"
    with pytest.raises(ChaosOpsError, match=r"mine/none/config\.json does not exist"):
        load_team("oversight=mine/none+format=menu,others=oracle")
    with pytest.raises(ChaosOpsError, match=r"mine/none/config\.json does not exist"):
        load_team("mine/none+format=menu")
    with pytest.raises(ChaosOpsError, match="unknown role 'overseer'"):
        load_team("overseer=oracle,others=oracle")


def test_a_password_is_never_printed() -> None:
    for text in ("openai:@http://me:secret@127.0.0.1/v1", "openai:m@http://me:secret@h/v1+price="):
        with pytest.raises(ChaosOpsError) as caught:
            read_spec(text)
        assert "secret" not in str(caught.value)
