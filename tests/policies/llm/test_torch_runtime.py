"""Transformers models on a tiny model: the ways to compute a reply give the same reply."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chaosops.core.errors import BadInput, UnknownName
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.llm import torch_runtime
from chaosops.policies.llm.forward import speed_up
from chaosops.policies.llm.torch_runtime import TorchRuntime
from chaosops.policies.protocol import DecisionRequest
from chaosops.policies.registry import load_policy
from chaosops.training.encoder import Encoder
from tests.training.tiny import save_tiny_model


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


def requests() -> list[DecisionRequest]:
    """Two turns of every role in two companies."""
    found = []
    for seed in range(2):
        env = Env(make_scenario(pack="arena", split="train", tier="hard", seed=seed))
        for step in range(8):
            found.append(DecisionRequest(env.view, step))
            env.step({"action": "noop"})
    return found


def policy_on(tiny: Path, **settings: Any) -> Any:
    policy: Any = load_policy(f"{tiny}+format=menu+batch=64")
    for name, value in settings.items():
        setattr(policy.runtime, name, value)
    return policy


@pytest.mark.parametrize("pass_tokens", [100, 3_000, 1_000_000])
def test_a_prompt_read_whole_gets_the_same_reply(
    tiny: Path, pass_tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = requests()
    in_parts = policy_on(tiny, reads_whole=False).decide(given)
    monkeypatch.setattr(torch_runtime, "_PASS_TOKENS", pass_tokens)
    whole = policy_on(tiny, reads_whole=True).decide(given)
    assert len({decision.exchange.reply for decision in whole}) > 1
    for one, other in zip(in_parts, whole, strict=True):
        assert one.exchange == other.exchange
        assert (one.suspicion is None) == (other.suspicion is None)
        if one.suspicion is not None:
            assert one.suspicion == pytest.approx(other.suspicion, abs=1e-5)


def test_a_prompt_has_the_tokens_it_was_trained_with(tiny: Path) -> None:
    policy = policy_on(tiny)
    encode = Encoder.of(policy.runtime.tokenizer, str(tiny))
    chats = [decision.exchange.prompt for decision in policy.decide(requests())]
    split = policy.runtime._split(chats)
    assert [[*begin, *rest] for begin, rest in split] == encode(chats)
    assert all(begin and rest for begin, rest in split)


def test_bf16_with_fused_norms_and_its_float32_head_is_close(tiny: Path) -> None:
    """What a GPU computes, on the CPU."""
    import torch

    given = requests()
    exact = policy_on(tiny, reads_whole=False).decide(given)
    policy = load_policy(f"{tiny}+format=menu+dtype=bfloat16")
    runtime: Any = policy.runtime  # type: ignore[attr-defined]
    assert policy.status()["backend"].endswith(", bfloat16")
    speed_up(torch, runtime.model, compiles=False)
    assert type(runtime.model.model.norm) is torch.nn.RMSNorm
    assert runtime.model.lm_head.weight.dtype == torch.float32
    assert runtime.model.model.embed_tokens.weight.dtype == torch.bfloat16
    runtime.reads_whole = True
    for one, other in zip(exact, policy.decide(given), strict=True):
        if one.suspicion is not None:
            assert other.suspicion == pytest.approx(one.suspicion, rel=0.05)


def test_a_type_of_numbers_that_is_not_known_is_refused(tiny: Path) -> None:
    with pytest.raises(UnknownName, match=r"int4.*float32, bfloat16"):
        load_policy(f"{tiny}+dtype=int4")


def test_compiling_is_refused_without_a_gpu_and_takes_true_or_false(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BadInput, match="compile=true needs a GPU: leave it out"):
        TorchRuntime(str(tiny), None, {}, compiles=True)
    with pytest.raises(BadInput, match=r"compile=yes in .*: expected true or false"):
        load_policy(f"{tiny}+compile=yes")
