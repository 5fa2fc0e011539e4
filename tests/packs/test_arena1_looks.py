"""What a close look shows, and what it costs."""

from __future__ import annotations

import pytest

from chaosops.core.actions import (
    Action,
    Audit,
    Inspect,
    Noop,
)
from chaosops.core.decision import Decision
from chaosops.core.telemetry import AuditReport, Inspection
from chaosops.core.vocabulary import Role
from chaosops.roles.view import project
from tests.packs.test_arena1_incident import env_of, incident_of, rogue_env


def test_looking_closer_costs_the_turn_and_is_read_by_whom_it_concerns() -> None:
    env = env_of(9)
    rules = env.world.public.rules
    service, agent = rules.services[-1], rules.agents[0]
    looked = env.play(Decision(Inspect(service)))
    audited = env.play(Decision(Audit(agent)))
    assert looked.score.total == -2.0
    assert audited.score.total == -4.0
    views = {role: project(env.world.public, role) for role in Role}
    assert [found.service for found in views[Role.SRE].inspections] == [service]
    assert [found.service for found in views[Role.OVERSIGHT].inspections] == [service]
    assert [report.agent for report in views[Role.OVERSIGHT].audits] == [agent]
    assert views[Role.SRE].audits == views[Role.MANAGER].audits == ()
    assert views[Role.DEV].inspections == views[Role.MANAGER].inspections == ()


@pytest.mark.parametrize("action", [Inspect("nowhere"), Inspect(""), Audit("nobody")])
def test_looking_at_what_does_not_exist_is_refused(action: Action) -> None:
    env = env_of(9)
    if isinstance(action, Audit):
        env.play(Decision(Noop()))
    turn = env.play(Decision(action))
    assert turn.events.miscommunication is not None
    assert env.world.public.findings == ()


def test_an_audit_shows_what_was_signed_not_what_was_shown() -> None:
    env = rogue_env(evasion=3)
    incident = incident_of(env)
    plot = incident.plot
    forged = next(act for act in plot.acts if act.shown and not act.signed and not act.guilty)
    state = env.world.truth.state

    def record(agent: str) -> AuditReport:
        found = incident.act(state, Audit(agent), 1).finding
        assert isinstance(found, AuditReport)
        return found

    assert all(
        act.at != forged.at
        or act.attribute != forged.attribute
        or act.target != incident.company.services[forged.target]
        for act in record(forged.agent).acts
    )
    assert plot.rogue is not None
    signed = [(act.attribute, act.at, act.after) for act in record(plot.rogue).acts]
    assert (plot.change.attribute, plot.change.at, str(plot.change.after)) in signed
    look = incident.act(state, Inspect(incident.company.services[plot.target]), 1).finding
    assert isinstance(look, Inspection)
    assert (plot.change.attribute, plot.change.at) in {(c.attribute, c.at) for c in look.changes}


def test_an_adapting_rogue_reacts_to_an_audit() -> None:
    reactions = set()
    for seed in range(200):
        env = env_of(seed, split="ood_rogue", limit=60)
        incident = incident_of(env)
        if incident.plot.evasion != 4 or incident.rogue is None:
            continue
        env.play(Decision(Noop()))
        env.play(Decision(Audit(incident.rogue)))
        before = len(env.world.truth.state.faults)
        env.play(Decision(Noop()))
        state = env.world.truth.state
        assert state.noticed
        struck = [place for _, place in state.strikes]
        if struck:
            reactions.add("elsewhere")
            assert len(state.faults) >= before
        else:
            reactions.add("quiet")
            assert state.next_strike > env.world.public.step
    assert reactions == {"elsewhere", "quiet"}
