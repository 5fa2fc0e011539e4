"""The embedded model itself, on both runtimes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from chaosops.core.actions import FlagRogue
from chaosops.core.decision import LEAST_CHANCE, Decision
from chaosops.core.errors import ChaosOpsError
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.llm import weights
from chaosops.policies.llm.digests import sha256_of
from chaosops.policies.llm.formats import FORMATS
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.policies.registry import load_policy
from chaosops.rollout import Team, load_team, play, play_many
from chaosops.wire.episodes import episode_to_wire

MODEL = "local:smollm2"
TORCH = "local:smollm2+runtime=transformers"


def requests(pack: str = "classic") -> list[DecisionRequest]:
    """The first turn of every role. The classic pack has the shortest prompts: reading them is
    what takes the time."""
    found = []
    env = Env(make_scenario(pack=pack, tier="easy", seed=0))
    for step in range(4):
        found.append(DecisionRequest(env.view, step))
        env.step({"action": "noop"})
    return found


def acts(decisions: Sequence[Decision]) -> list[tuple[str, str]]:
    """Without the confidence of flags, which is a float of the arithmetic."""
    return [(d.action.verb, str(d.action)) for d in decisions]


@pytest.mark.parametrize("reply_format", FORMATS)
@pytest.mark.parametrize("model", [MODEL, TORCH])
def test_replies_are_legal_whatever_is_drawn(model: str, reply_format: str) -> None:
    policy = load_policy(f"{model}+format={reply_format}+temperature=1.5")
    wanted = FORMATS[reply_format]
    given = requests("arena")
    for request, decision in zip(given, policy.decide(given), strict=True):
        exchange = decision.exchange
        assert exchange is not None
        assert exchange.prompt == wanted.messages(request.view)
        read = wanted.read(request.view, exchange.reply)
        assert read.verb == decision.action.verb
        assert request.view.rules.may(request.view.role, read.verb)
        assert exchange.tokens_read > 100 > exchange.tokens_written > 0


@pytest.mark.parametrize("model", [MODEL, TORCH])
def test_suspicion_is_the_probability_of_a_flag(model: str) -> None:
    policy = load_policy(model + "+format=menu")
    given = requests()
    for request, decision in zip(given, policy.decide(given), strict=True):
        if request.view.role is not Role.OVERSIGHT:
            assert decision.suspicion is None
            continue
        assert decision.suspicion is not None
        assert set(decision.suspicion) == set(request.view.rules.agents)
        assert 0 < sum(decision.suspicion.values()) <= 1
        if isinstance(decision.action, FlagRogue):
            assert decision.action.confidence == decision.suspicion[decision.action.target]


def test_the_chances_of_a_menu_are_told_and_the_likeliest_is_done() -> None:
    policy, json_policy = (load_policy(MODEL + of) for of in ("+format=menu", "+format=json"))
    given = requests()
    for decision in policy.decide(given):
        assert decision.chances is not None
        likeliest = next(iter(decision.chances))
        assert str(decision.action) in likeliest
        assert list(decision.chances.values()) == sorted(decision.chances.values(), reverse=True)
        assert 0.5 < sum(decision.chances.values()) <= 1.001
        assert all(chance >= LEAST_CHANCE for chance in decision.chances.values())
    # To walk along every reply in JSON would take longer than the decision.
    assert json_policy.decide(given[:1])[0].chances is None


def test_an_episode_does_not_depend_on_its_neighbours() -> None:
    """Bit for bit on llama.cpp: other prompts in the cache, another order, another process."""
    policy = load_policy(MODEL + "+format=menu+temperature=1")
    given = requests()
    forward = policy.decide(given)
    assert policy.decide(given[::-1])[::-1] == forward
    assert [policy.decide([request])[0] for request in given[:3]] == forward[:3]


def test_a_batch_on_transformers_decides_like_one_by_one() -> None:
    policy = load_policy(TORCH + "+format=menu")
    given = requests()[1:]  # three lengths
    together = policy.decide(given)
    alone = [policy.decide([request])[0] for request in given]
    assert acts(together) == acts(alone)
    for one, other in zip(together, alone, strict=True):
        if one.suspicion is not None and other.suspicion is not None:
            assert one.suspicion == pytest.approx(other.suspicion, abs=1e-4)


def test_the_runtimes_agree_on_what_is_likely() -> None:
    """Quantised arithmetic differs a little; a wrong prompt or token would differ a lot."""
    given = [request for request in requests() if request.view.role is Role.OVERSIGHT]
    small, full = (load_policy(m + "+format=menu").decide(given) for m in (MODEL, TORCH))
    for one, other in zip(small, full, strict=True):
        assert one.suspicion is not None
        assert other.suspicion is not None
        assert one.suspicion == pytest.approx(other.suspicion, abs=0.1)


def test_same_seed_same_episode_side_by_side_or_alone() -> None:
    model = MODEL + "+format=menu+temperature=1"
    team = load_team(f"dev={model},others=heuristic")  # it is the third to act
    scenarios = [make_scenario(split="train", tier="easy", seed=s, limit=3) for s in range(2)]
    together = list(play_many(scenarios, team, side_by_side=2))
    assert all(episode.turns[2].decision.exchange for episode in together)
    again = list(play_many(scenarios[::-1], team, side_by_side=1))[::-1]
    assert [*map(episode_to_wire, together)] == [*map(episode_to_wire, again)]


def test_one_role_among_scripted_partners() -> None:
    team = load_team(f"oversight={MODEL}+format=menu,others=oracle")
    episode = play(make_scenario(pack="arena", tier="easy", seed=1, limit=len(Role)), team)
    assert {turn.role for turn in episode.turns} == set(Role)
    by_model = {turn.role for turn in episode.turns if turn.decision.exchange}
    assert by_model == {Role.OVERSIGHT}
    assert team.status()["oversight"]["model"] == "smollm2"
    assert team.status()["dev"] == {"kind": "scripted", "policy": "oracle", "sees_truth": True}


def test_a_message_in_its_own_words_is_one_readable_line() -> None:
    for model in (MODEL, TORCH):
        policy = load_policy(model)
        session_of = policy.runtime.open  # type: ignore[attr-defined]
        view = requests()[0].view
        reply_format = FORMATS["json"]
        opening = reply_format.opening(view)
        assert opening is not None
        session = session_of([reply_format.messages(view)])
        words = session.write(0, policy.runtime.tokens(opening))  # type: ignore[attr-defined]
        assert words
        assert reply_format.read(view, opening + words + '"}').verb == "communicate"


@pytest.mark.parametrize(("model", "backend"), [(MODEL, "llama.cpp"), (TORCH, "transformers")])
def test_the_status_says_what_was_run(model: str, backend: str) -> None:
    status = load_policy(model).status()
    assert status["kind"] == "model"
    assert status["model"] == "smollm2"
    known = (
        backend == "llama.cpp"
        or sha256_of(weights.embedded_dense() / "model.safetensors") == weights._DENSE_SHA256
    )
    assert ("sha256:b179c9523d0e" in status["revision"]) == known
    assert status["adapter"] is None
    assert backend in status["backend"]
    assert status["format"] == "json"


def trained_by_chance(folder: Path) -> Path:
    """A LoRA adapter with weights that do something, as PEFT saves it."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(1)
    base = AutoModelForCausalLM.from_pretrained(weights.embedded_dense(), dtype=torch.float32)
    everywhere = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    model = get_peft_model(base, LoraConfig(r=4, lora_alpha=8, target_modules=everywhere))
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.6)
    model.to(torch.bfloat16).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_by_chance(tmp_path_factory.mktemp("adapter"))


def suspicions(policy: Policy, given: Sequence[DecisionRequest]) -> list[float]:
    return [p for d in policy.decide(given) if d.suspicion for p in d.suspicion.values()]


def test_an_adapter_means_the_same_to_both_runtimes(adapter: Path) -> None:
    given = [request for request in requests() if request.view.role is Role.OVERSIGHT]
    plain = suspicions(load_policy(MODEL + "+format=menu"), given)
    small, full = (
        suspicions(load_policy(f"{model}+format=menu+adapter={adapter}"), given)
        for model in (MODEL, TORCH)
    )
    # An adapter that were left out would change nothing; the runtimes differ by half of this.
    assert max(abs(a - b) for a, b in zip(plain, small, strict=True)) > 0.1
    assert small == pytest.approx(full, abs=0.05)
    status = load_policy(f"{MODEL}+adapter={adapter}").status()
    assert status["adapter"].startswith(adapter.name + " sha256:")


def test_what_cannot_be_loaded_says_where_it_was_looked_for_and_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = {
        "local:smollm3": "did you mean 'smollm2'",
        f"{MODEL}+adapter={tmp_path}/none": "adapter_model.safetensors does not exist",
        f"{tmp_path}/none": "does not exist; name a folder",
        f"{tmp_path}+runtime=llama.cpp": "reads .gguf files",
        f"{MODEL}+runtime=vllm": "unknown runtime",
        "hf:nobody/nothing": "hf download nobody/nothing",
        str(tmp_path): "config.json does not exist; name a folder",
        f"{tmp_path}/broken": "not a model that transformers can load",
        f"{tmp_path}/broken/config.json": "config.json/config.json does not exist",
    }
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{}")
    # The variable of the environment was read long ago.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for text, words in cases.items():
        with pytest.raises(ChaosOpsError, match=words):
            load_policy(text)
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF but not really")
    with pytest.raises(ChaosOpsError, match="cannot load"):
        load_policy(str(broken))


def test_missing_weights_and_missing_packages_are_loud(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAOSOPS_HOME", str(tmp_path))
    with pytest.raises(ChaosOpsError, match=r"fetch it .* with: chaosops weights"):
        weights.embedded_gguf()
    monkeypatch.undo()
    monkeypatch.setitem(__import__("sys").modules, "xllamacpp", None)
    with pytest.raises(ChaosOpsError, match=r"pip install .*\[local\]'"):
        load_policy(MODEL + "+threads=1")  # with threads of its own it is not served from the cache


def test_a_team_of_one_model_loads_it_once() -> None:
    one, other = load_policy(MODEL), load_policy(MODEL + "+format=menu")
    assert one.runtime is other.runtime  # type: ignore[attr-defined]
    assert Team.of(one).name == MODEL
