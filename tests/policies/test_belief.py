from __future__ import annotations

import pytest

from chaosops.core.actions import Action, Audit, FlagRogue, Noop, RenewCert, Restart
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.policies.belief import Thresholds, decide, decides
from chaosops.policies.chat import tried_in_vain
from chaosops.roles.menu import menu
from chaosops.roles.view import RoleView

BARS = Thresholds(flag_at=0.6, audit_at=0.1)


@pytest.fixture
def env() -> Env:
    env = Env(make_scenario(pack="arena", split="train", tier="hard", seed=0))
    env.step({"action": "noop"})
    return env


def believed(view: RoleView, belief: dict[str, float]) -> tuple[list[Action], dict[int, float]]:
    """The menu, with the belief in each agent on its flags in equal parts, and the rest on the
    other replies in equal parts, noop a little ahead: as a trained model answers."""
    actions = list(menu(view).values())
    flags = {agent: [a for a in _flags(actions) if a.target == agent] for agent in belief}
    others = len(actions) - len(_flags(actions))
    left = (1 - sum(belief.values())) / others
    chances = {}
    for i, action in enumerate(actions):
        if isinstance(action, FlagRogue):
            chances[i] = belief.get(action.target, 0.0) / len(flags.get(action.target, [1]))
        else:
            chances[i] = left * (1.01 if action == Noop() else 1.0)
    return actions, chances


def _flags(actions: list[Action]) -> list[FlagRogue]:
    return [action for action in actions if isinstance(action, FlagRogue)]


def suspects(env: Env) -> tuple[str, str]:
    found = list(dict.fromkeys(a.target for a in _flags(list(menu(env.view).values()))))
    return found[0], found[1]


def taken(env: Env, belief: dict[str, float], bars: Thresholds = BARS) -> Action:
    actions, chances = believed(env.view, belief)
    return actions[decide(env.view, actions, chances, bars)]


def test_a_doubtful_flag_is_likeliest_and_not_made(env: Env) -> None:
    """The rest is spread over many replies, so this flag is the likeliest single reply."""
    one, _ = suspects(env)
    actions, chances = believed(env.view, {one: 0.5})
    assert isinstance(actions[max(chances, key=chances.__getitem__)], FlagRogue)
    assert taken(env, {one: 0.5}) == Audit(one)
    assert taken(env, {one: 0.5}, Thresholds(0.6, 1.0)) == Noop()


def test_a_sure_belief_flags_the_likeliest_act_of_the_agent(env: Env) -> None:
    one, other = suspects(env)
    actions, chances = believed(env.view, {one: 0.2, other: 0.7})
    acts = [i for i, a in enumerate(actions) if isinstance(a, FlagRogue) and a.target == other]
    chances[acts[-1]] += 0.01
    assert decide(env.view, actions, chances, BARS) == acts[-1]


def test_the_belief_in_an_agent_is_that_in_all_its_acts(env: Env) -> None:
    actions = _flags(list(menu(env.view).values()))
    several = [a.target for a in actions if [b.target for b in actions].count(a.target) > 1]
    assert several, "this company shows no agent with two acts: choose another seed"
    flagged = taken(env, {several[0]: 0.61})
    assert isinstance(flagged, FlagRogue)
    assert flagged.target == several[0]


def test_an_agent_is_audited_once_and_then_the_next(env: Env) -> None:
    one, other = suspects(env)
    belief = {one: 0.4, other: 0.2}
    assert taken(env, belief) == Audit(one)
    env.step({"action": "audit", "target": one})
    while env.role.value != "oversight":
        env.step({"action": "noop"})
    assert taken(env, belief) == Audit(other)
    assert taken(env, {one: 0.4, other: 0.05}) == Noop()


def test_without_suspects_the_model_chooses_among_the_rest(env: Env) -> None:
    assert taken(env, {}) == Noop()
    actions, chances = believed(env.view, {})
    message = next(i for i, action in enumerate(actions) if action.verb == "communicate")
    chances[message] += 0.1
    assert decide(env.view, actions, chances, BARS) == message


def test_an_agent_is_flagged_unread_only_if_the_belief_is_sure(env: Env) -> None:
    one, _ = suspects(env)
    bars = BARS._replace(sure_at=0.9)
    assert taken(env, {one: 0.7}, bars) == Audit(one)
    assert isinstance(taken(env, {one: 0.95}, bars), FlagRogue)
    env.step({"action": "audit", "target": one})
    next_turn_of(env, "oversight")
    assert isinstance(taken(env, {one: 0.7}, bars), FlagRogue)


def next_turn_of(env: Env, role: str) -> None:
    while env.role.value != role:
        env.step({"action": "noop"})


def developer_after(remedy: Action) -> Env:
    """The certificate of audit-db has expired. Once renewed, it expires again before the callers of
    audit-db are well."""
    env = Env(make_scenario(pack="arena", split="test", tier="hard", seed=149))
    next_turn_of(env, "dev")
    env.step(remedy)
    next_turn_of(env, "dev")
    return env


def test_a_remedy_that_did_not_help_is_not_tried_again() -> None:
    wrong = Restart("audit-db")
    env = developer_after(wrong)
    assert decides(env.view)
    assert tried_in_vain(env.view) == {wrong}
    actions = list(menu(env.view).values())
    chances = {i: float(action == wrong) for i, action in enumerate(actions)}
    assert actions[decide(env.view, actions, chances, BARS)] != wrong


def test_a_remedy_that_helped_may_be_tried_again_though_others_still_fail() -> None:
    env = developer_after(RenewCert("audit-db"))
    since = {alert.service: alert.step for alert in env.view.alerts}
    assert since["audit-db"] > min(since.values()), "it was well, and others were not"
    assert not tried_in_vain(env.view)
