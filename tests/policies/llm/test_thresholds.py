from __future__ import annotations

from pathlib import Path

import pytest

from chaosops.core.actions import FlagRogue
from chaosops.core.errors import BadInput
from chaosops.policies.belief import Thresholds
from chaosops.policies.llm import loading
from chaosops.policies.llm.formats import FORMATS
from chaosops.policies.llm.policy import LocalModelPolicy
from chaosops.policies.llm.thresholds import FILE, read_thresholds, write_thresholds
from chaosops.policies.registry import load_policy
from tests.policies.llm.test_hostile_words import ShortRuntime, requests

MENU = FORMATS["menu"]


def test_a_file_is_read_as_it_was_written(adapter: Path) -> None:
    assert read_thresholds(None) is None
    assert read_thresholds(adapter) is None
    write_thresholds(adapter, Thresholds(0.6, 0.1, 0.9))
    assert read_thresholds(adapter) == Thresholds(0.6, 0.1, 0.9)
    (adapter / FILE).write_text('{"flag_at": 0.6, "audit_at": 0.1}', encoding="utf-8")
    assert read_thresholds(adapter) == Thresholds(0.6, 0.1)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"flag_at": 0.6}',
        '{"flag_at": "0.6", "audit_at": 0.1}',
        '{"flag_at": 1.5, "audit_at": 0.1}',
        '{"flag_at": true, "audit_at": 0.1}',
        '{"flag_at": NaN, "audit_at": 0.1}',
    ],
)
def test_a_file_without_thresholds_is_refused(adapter: Path, text: str) -> None:
    (adapter / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"decision\.json"):
        read_thresholds(adapter)


@pytest.fixture
def no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_runtime", lambda spec: ShortRuntime(10**6))


@pytest.mark.usefixtures("no_weights")
def test_an_adapter_is_played_with_its_thresholds_unless_others_are_named(adapter: Path) -> None:
    name = f"local:smollm2+adapter={adapter}+format=menu"
    assert "thresholds" not in load_policy(name).status()
    with pytest.raises(BadInput, match=r"no effect, .* from 1 on .* smaller \+flag_at"):
        load_policy(f"{name}+sure_at=0.9")
    named = load_policy(f"{name}+flag_at=0.6+sure_at=0.9").status()["thresholds"]
    assert named == {"flag_at": 0.6, "audit_at": 1.0, "sure_at": 0.9}
    named = load_policy(f"{name}+flag_at=0.7").status()["thresholds"]
    assert named == {"flag_at": 0.7, "audit_at": 1.0, "sure_at": 0.0}
    write_thresholds(adapter, Thresholds(0.6, 0.1))
    assert load_policy(name).status()["thresholds"] == Thresholds(0.6, 0.1)._asdict()
    named = load_policy(f"{name}+audit_at=0.3").status()["thresholds"]
    assert named == {"flag_at": 0.6, "audit_at": 0.3, "sure_at": 0.0}
    with pytest.raises(BadInput, match="from 0 to 1"):
        load_policy(f"{name}+flag_at=1.2")


def test_thresholds_change_what_is_done_and_not_what_is_believed() -> None:
    """The first reply is likeliest for this runtime. A flag is never likelier than 0.99."""
    given = requests(8)
    plain = LocalModelPolicy("p", ShortRuntime(10**6), MENU)
    eager, patient = (
        LocalModelPolicy("p", ShortRuntime(10**6), MENU, thresholds=Thresholds(at, 1.0))
        for at in (0.0, 0.99)
    )
    decided = [policy.decide(given) for policy in (plain, eager, patient)]
    for one, flagged, waited in zip(*decided, strict=True):
        assert isinstance(flagged.action, FlagRogue)
        assert not isinstance(waited.action, FlagRogue)
        assert one.suspicion == flagged.suspicion == waited.suspicion
        assert flagged.exchange is not None
        assert flagged.exchange.reply  # the label of what was done


def test_a_sampled_reply_is_the_models_own() -> None:
    given = requests(8)
    sampled, with_thresholds = (
        LocalModelPolicy("p", ShortRuntime(10**6), MENU, temperature=1.0, thresholds=thresholds)
        for thresholds in (None, Thresholds(0.0, 0.0))
    )
    assert sampled.decide(given) == with_thresholds.decide(given)
