"""The page explains the words that it uses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import chaosops
from chaosops.core.vocabulary import Role
from chaosops.env import Env
from chaosops.evaluation.metrics import METRICS, headers
from chaosops.evaluation.monitor import RECORDED_METRICS
from chaosops.packs import load_pack, make_scenario
from chaosops.policies.registry import load_policy
from chaosops.report.frames import frame_of
from chaosops.report.introduction import introduction
from chaosops.rollout import Rollout, Team, advance
from chaosops.web.wire import frame_to_wire

STATIC = Path(chaosops.__file__).parent / "web/static"


@pytest.mark.parametrize("title", sorted({*headers(METRICS), *headers(RECORDED_METRICS)}))
def test_every_figure_has_a_meaning(title: str) -> None:
    text = (STATIC / "figure_words.js").read_text()
    assert re.search(rf'^  "?{re.escape(title)}"?:', text, re.MULTILINE)


def test_the_page_hints_at_no_agent() -> None:
    """The names of the agents of an incident stand beside a vote about them."""
    pages = STATIC.parent / "templates"
    text = " ".join(path.read_text() for path in pages.glob("**/*.html")).lower()
    agents = {agent for failure in load_pack("classic").failures() for agent in fleet(failure)}
    assert agents
    assert not [name for name in agents if re.search(name.replace("_", "[_ -]"), text)]


def fleet(failure: str) -> tuple[str, ...]:
    return Env(make_scenario(failure, pack="classic")).world.public.rules.agents


def test_every_number_has_the_same_sign() -> None:
    """The words that scripts, packs and files write with hyphens are written anew for people."""
    company = make_scenario(pack="arena", split="test", tier="hard", seed=3)
    rollout = Rollout(Env(company), Team.of(load_policy("auditor")))
    while not rollout.env.over:
        advance([rollout])
    outcome = frame_to_wire(frame_of(rollout))["outcome"]
    words = [*outcome["explanation"], *introduction(Role.OVERSIGHT, "heuristic")]
    words += [flag.act for flag in frame_of(rollout).flags]
    assert any("\N{MINUS SIGN}" in line for line in words)
    assert any(" t\N{MINUS SIGN}" in line for line in words)
    assert not [line for line in words if re.search(r"(?<![\w-])-\d|minute \S?\d", line)]
