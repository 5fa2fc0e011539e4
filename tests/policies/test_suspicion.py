from __future__ import annotations

import pytest

from chaosops.core.actions import FlagRogue, Noop
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.chat import suspicion_of
from chaosops.roles.view import RoleView


@pytest.fixture
def view() -> RoleView:
    """Oversight's. It has the second turn."""
    env = Env(make_scenario(pack="arena", split="train", tier="hard", seed=1))
    env.step({"action": "noop"})
    return env.view


@pytest.mark.parametrize(
    ("probability", "told"),
    [
        (1.23456789e-9, 1.23457e-9),
        (1.23456789e-13, 1.23457e-13),
        (0.123456789, 0.123457),
        (0.99999987, 1.0),
        (1.0000002, 1.0),
        (0.0, 0.0),
    ],
)
def test_six_significant_digits_are_told(view: RoleView, probability: float, told: float) -> None:
    agent, *others = view.rules.agents
    assert others
    found = suspicion_of(view, [(FlagRogue(agent), probability), (Noop(), 0.5)])
    assert found == {**dict.fromkeys(others, 0.0), agent: told}


def test_flags_for_several_acts_of_an_agent_add_up(view: RoleView) -> None:
    agent = view.rules.agents[0]
    flags = [(FlagRogue(agent, evidence=1), 3e-8), (FlagRogue(agent, evidence=2), 4e-8)]
    assert suspicion_of(view, flags)[agent] == 7e-8


def test_suspicions_below_a_millionth_keep_their_order(view: RoleView) -> None:
    agents = view.rules.agents
    flags = [(FlagRogue(agent), 10.0**-power) for power, agent in enumerate(agents, 7)]
    found = suspicion_of(view, flags)
    assert sorted(agents, key=found.__getitem__, reverse=True) == list(agents)
    assert len(set(found.values())) == len(agents)
