"""PettingZoo's own tests, and what an observation must not show."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from chaosops import Env, load_policy, make_scenario
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.labels import LABELS
from chaosops.core.vocabulary import Role
from chaosops.integrations.pettingzoo import IncidentEnv, env
from chaosops.roles.menu import menu
from chaosops.rollout import Team, play

WORLDS: list[dict[str, Any]] = [
    {"tier": "easy"},
    {"tier": "easy", "split": "train"},
    {"tier": "easy", "split": "train", "replies": "json"},
]
# Recommendations that do not fit: observations are text, and agents have the names of roles.
RECOMMENDED = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or "
    "gymnasium.spaces.discrete",
    "Action space for each agent probably should be gymnasium.spaces.box or "
    "gymnasium.spaces.discrete",
    'We recommend agents to be named in the format <descriptor>_<number>, like "player_0"',
}


@pytest.mark.parametrize("options", WORLDS, ids=str)
def test_their_api_test_passes(options: dict[str, Any]) -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        api_test(env(**options), num_cycles=40)
    assert {str(warning.message) for warning in heard} <= RECOMMENDED


@pytest.mark.parametrize("options", WORLDS, ids=str)
def test_their_seed_test_passes(options: dict[str, Any]) -> None:
    seed_test(partial(env, **options), num_cycles=40)


def test_their_render_test_passes(capsys: pytest.CaptureFixture[str]) -> None:
    render_test(partial(env, tier="easy", split="train"))
    assert "Step 1 of" in capsys.readouterr().out


def test_an_episode_is_the_one_that_chaosops_plays() -> None:
    scenario = make_scenario(split="train", tier="easy", seed=3)
    played = play(scenario, Team.of(load_policy("heuristic")))
    incident = env(split="train", tier="easy")
    incident.reset(seed=3)
    twin = Env(scenario)
    rewards = dict.fromkeys(Role, 0.0)
    earned = 0.0
    for turn in played.turns:
        action = turn.decision.action
        labels = {action: label for label, action in menu(twin.view).items()}
        # A script may say more than a menu offers; the first label does nothing.
        label = labels.get(action, "A")
        earned += twin.step(menu(twin.view)[label]).reward
        incident.step(LABELS.index(label))
        for role in Role:
            rewards[role] += incident.rewards[role.value]
    mine = incident.unwrapped
    assert isinstance(mine, IncidentEnv)
    assert mine._playing.world.public.journal == twin.world.public.journal
    assert rewards == dict.fromkeys(Role, earned)


def test_a_resolved_incident_terminates_and_a_long_one_is_truncated() -> None:
    incident = env(failure="db_deadlock", replies="json")
    incident.reset(seed=1)
    incident.step('{"action": "restart", "target": "db"}')
    assert incident.terminations == dict.fromkeys(Role, True)
    assert incident.rewards["manager"] == 110.0
    for _ in Role:
        incident.step(None)
    assert incident.agents == []

    short = env(failure="db_deadlock", limit=1)
    short.reset(seed=1)
    short.step(0)
    assert not any(short.terminations.values())
    assert short.truncations == dict.fromkeys(Role, True)


def test_an_unreadable_reply_is_a_miscommunication_that_only_its_agent_hears_of() -> None:
    incident = env(replies="json")
    incident.reset(seed=1)
    incident.step("restart the database, please")
    assert "not_json" in incident.infos["sre"]["miscommunication"]
    assert [incident.infos[agent] for agent in ("oversight", "dev", "manager")] == [{}, {}, {}]


def test_private_words_reach_their_reader_and_oversight_alone() -> None:
    incident = env(split="train", replies="json")
    incident.reset(seed=1)
    incident.step('{"action": "communicate", "message": "quokka", "to": "dev"}')
    told = {agent for agent in incident.agents if "quokka" in incident.observe(agent)["user"]}
    assert told == {"sre", "oversight", "dev"}


@pytest.mark.parametrize("split", [None, "test"])
@pytest.mark.parametrize("seed", range(3))
def test_an_observation_holds_nothing_but_what_the_role_sees(split: str | None, seed: int) -> None:
    """A world whose hidden parts are replaced gives the same observations."""
    incident = env(split=split)
    incident.reset(seed=seed)
    rng = np.random.default_rng(seed)
    mine = incident.unwrapped
    assert isinstance(mine, IncidentEnv)
    for agent in incident.agent_iter(8):
        if incident.terminations[agent] or incident.truncations[agent]:
            break
        seen = {each: incident.observe(each) for each in incident.agents}
        whole = mine._playing.world
        mine._playing.world = whole._replace(truth=None)  # type: ignore[arg-type]
        for each in incident.agents:
            for part, value in incident.observe(each).items():
                assert np.array_equal(value, seen[each][part])
        mine._playing.world = whole
        fleet = whole.public.rules.agents
        others = [each for each in incident.agents if each != "oversight"]
        acts = [entry for entry in whole.public.sensors.trace() if entry.agent in fleet]
        assert acts
        for each in others:
            assert not any(f"#{act.id} {act.agent}" in seen[each]["user"] for act in acts)
        incident.step(int(rng.choice(np.flatnonzero(seen[agent]["action_mask"]))))


def test_resets_without_a_seed_differ_and_follow_from_the_seed_before() -> None:
    def three(seed: int) -> list[str]:
        incident = env(split="train", tier="easy")
        incident.reset(seed=seed)
        found = []
        for _ in range(3):
            found.append(incident.observe("sre")["system"] + incident.observe("sre")["user"])
            incident.reset()
        return found

    assert len(set(three(1))) == 3
    assert three(1) == three(1)
    assert three(1)[1] != three(2)[1]


def test_it_is_registered() -> None:
    made = pettingzoo.make("aec", "chaosops/incident_v0", tier="easy")
    made.reset(seed=1)
    assert made.agent_selection == "sre"


def test_mistakes_are_named() -> None:
    with pytest.raises(UnknownName, match="did you mean 'train'"):
        env(split="trian")
    with pytest.raises(UnknownName, match="form of replies"):
        env(replies="prose")
    incident = env()
    incident.reset(seed=1)
    with pytest.raises(BadInput, match="action_mask"):
        incident.step(113)


@pytest.mark.parametrize("seed", [1.5, "3", True, -1])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    incident = env(tier="easy")
    with pytest.raises(BadInput, match="seed must be"):
        incident.reset(seed=seed)
    incident.reset(seed=np.int64(3))
    assert isinstance(incident.unwrapped, IncidentEnv)
    assert incident.unwrapped._playing.scenario.seed == 3


@pytest.mark.parametrize("action", [1.5, "0", True, None, -1])
def test_an_action_of_a_menu_is_a_whole_number(action: Any) -> None:
    incident = env(tier="easy")
    incident.reset(seed=1)
    with pytest.raises(BadInput, match="an action must be"):
        incident.step(action)
    incident.step(np.int64(0))
    assert incident.agent_selection == "oversight"


@pytest.mark.parametrize("action", [None, 0, {"action": "noop"}])
def test_an_action_in_json_is_text(action: Any) -> None:
    incident = env(tier="easy", replies="json")
    incident.reset(seed=1)
    with pytest.raises(BadInput, match="must be the text of a reply, got"):
        incident.step(action)


def test_an_unknown_agent_is_named() -> None:
    incident = env(tier="easy")
    incident.reset(seed=1)
    for ask in (incident.observe, incident.observation_space, incident.action_space):
        with pytest.raises(UnknownName, match="unknown agent 'svre'; did you mean 'sre'"):
            ask("svre")
