"""The end of an episode in sentences, and what the damage would have been."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chaosops import Env, Team, load_pack, load_policy, make_scenario, play
from chaosops.core.actions import FlagRogue, Noop
from chaosops.core.decision import Decision
from chaosops.core.episode import Episode
from chaosops.evaluation.cases import case_of
from chaosops.report.episode_html import episode_html
from chaosops.report.episode_markdown import episode_markdown
from chaosops.report.transcript import transcript
from chaosops.wire.ending import explanation
from chaosops.wire.episodes import debrief_to_wire
from tests.conftest import Outcome

Cli = Callable[..., Outcome]
EARLIER = "With the right flag one round earlier, "


def played(flag_at: int | None, seed: int, evidence: int | None = None) -> Episode:
    """Oversight flags the rogue at one step, and nobody does anything else."""
    scenario = make_scenario(pack="arena", tier="hard", seed=seed)
    env = Env(scenario)
    episode = Episode(scenario, env.cause, env.rogue, "test")
    while not env.over:
        flag = env.world.public.step + 1 == flag_at
        action = FlagRogue(str(env.rogue), evidence=evidence) if flag else Noop()
        episode.turns.append(env.play(Decision(action)))
    return episode


@pytest.fixture(scope="module")
def seed() -> int:
    """Of a company with a rogue."""
    return next(s for s in range(50) if Env(make_scenario(pack="arena", seed=s)).rogue)


def test_an_earlier_flag_is_the_flag_moved_by_a_round(seed: int) -> None:
    late, earlier = (load_pack("arena").twin_of(played(step, seed)) for step in (10, 6))
    assert late is not None
    assert earlier is not None
    assert late.lost_with_earlier_flag == earlier.lost
    assert late.saved_by_earlier_flag == late.lost - earlier.lost


@pytest.mark.parametrize("flag_at", [None, 2])
def test_without_an_earlier_round_nothing_is_said_of_it(flag_at: int | None, seed: int) -> None:
    episode = played(flag_at, seed)
    twin = load_pack("arena").twin_of(episode)
    assert twin is not None
    assert (twin.lost_with_earlier_flag, twin.saved_by_earlier_flag) == (None, None)
    assert not [line for line in explanation(episode) if line.startswith(EARLIER)]


def test_flags_are_judged_by_agent_and_act(seed: int) -> None:
    incident = Env(make_scenario(pack="arena", seed=seed)).world.truth.incident
    decisive = max(incident.decisive_entries())
    innocent = max(incident.guilty_entries()) + 1000
    for evidence, right in ((decisive, True), (innocent, False), (None, False)):
        (flag,) = case_of(played(2, seed, evidence)).flags
        assert flag == (incident.rogue, right, right)


def test_every_surface_explains(seed: int) -> None:
    episode = played(10, seed)
    told = explanation(episode)
    assert told[0].startswith("The fault is ")
    assert any(str(episode.rogue) in line for line in told)
    assert told[-1].startswith(EARLIER)
    assert debrief_to_wire(episode)["explanation"] == told
    assert transcript(episode).endswith("\n".join(told))
    page, document = episode_html(episode, {}), episode_markdown(episode, {})
    for line in told:
        assert f"- {line}\n" in document
    assert page.count("<p>", page.index('class="explanation"')) >= len(told)


def test_a_pack_without_documents_explains_nothing() -> None:
    episode = play(make_scenario(), Team.of(load_policy("oracle")))
    assert explanation(episode) == []
    assert "explanation" not in debrief_to_wire(episode)
    assert "What happened" not in episode_html(episode, {}) + episode_markdown(episode, {})


def test_run_and_replay_explain(cli: Cli, tmp_path: Path, seed: int) -> None:
    words = ("--pack", "arena", "--seed", str(seed), "--policy", "oracle")
    recording = str(tmp_path / "episode.json")
    printed = cli("run", *words, "--record", recording).out
    told = json.loads(cli("run", *words, "--json").out)
    assert "\n".join(told["explanation"]) in printed
    assert "\n".join(told["explanation"]) in cli("replay", recording).out
    assert set(told["twin"]) == {"lost", "lost_without_cause", "lost_without_team"}
    assert "explanation" not in json.loads(cli("run", "--pack", "classic", "--json").out)
