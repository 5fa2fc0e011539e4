from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosops.core.actions import Noop, Restart, Rollback
from chaosops.core.dice import key_of
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.packs.arena import PACK
from chaosops.packs.arena.company import KINDS, Company, found_company
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.mechanism import Mechanism, Modifiers, Shows
from chaosops.packs.arena.mechanisms import MECHANISMS
from chaosops.packs.arena.physics import RETRIES, calm, flow, health, objectives
from chaosops.packs.arena.splits import SPLITS
from chaosops.packs.arena.state import Fault
from chaosops.world import engine

companies = st.builds(
    lambda seed, size: found_company(key_of("test", seed), size, "common"),
    st.integers(0, 10_000),
    st.integers(6, 30),
)


@given(companies)
@settings(deadline=None)
def test_a_company_is_a_graph_without_loops_that_reaches_everyone(company: Company) -> None:
    called = {call.callee for calls in company.calls for call in calls}
    for i, calls in enumerate(company.calls):
        assert all(call.callee > i for call in calls)
        assert len(set(company.callees(i))) == len(calls)
    not_called = set(range(len(company.services))) - called
    assert {company.kinds[i] for i in not_called} == {"edge"}
    assert len(set(company.services)) == len(company.services)
    assert all(company.load[i] > 0 for i in range(len(company.services)))


@given(companies, st.floats(0.5, 1.15))
@settings(deadline=None)
def test_load_is_conserved_where_nothing_is_shed(company: Company, wave: float) -> None:
    """What arrives at a service is what its callers served, call by call."""
    at = flow(company, calm(company), wave, company.replicas, {})
    loads = [
        at.utilisation[i] * company.replicas[i] * company.unit[i]
        for i in range(len(company.services))
    ]
    wanted = [external * wave for external in company.external]
    for i, calls in enumerate(company.calls):
        for callee, fanout, _ in calls:
            wanted[callee] += loads[i] * fanout
    assert loads == pytest.approx(wanted)


@given(companies, st.integers(0, 29), st.floats(0.05, 0.9), st.floats(0.8, 3.0))
@settings(deadline=None)
def test_load_is_conserved_where_a_service_is_overrun(
    company: Company, which: int, capacity: float, inflow: float
) -> None:
    """Wanted = served + waiting + shed, at a service that calls nobody."""
    leaves = [i for i, calls in enumerate(company.calls) if not calls]
    place = leaves[which % len(leaves)]
    before = flow(company, calm(company), 1.0, company.replicas, {})
    at = flow(company, before, 1.0, company.replicas, {place: Modifiers(capacity, inflow=inflow)})
    room = company.replicas[place] * company.unit[place] * capacity
    wanted = at.utilisation[place] * room + before.backlog[place]
    served = min(wanted, room)
    shed = at.errors[place] * wanted
    assert served + at.backlog[place] + shed == pytest.approx(wanted)
    assert 0 <= at.errors[place] <= 1


@given(companies, st.integers(0, 29), st.integers(1, 10))
@settings(deadline=None)
def test_more_replicas_never_raise_utilisation(company: Company, which: int, more: int) -> None:
    place = which % len(company.services)
    scaled = tuple(r + more if i == place else r for i, r in enumerate(company.replicas))
    before = flow(company, calm(company), 1.1, company.replicas, {})
    as_it_was = flow(company, before, 1.1, company.replicas, {})
    with_more = flow(company, before, 1.1, scaled, {})
    assert with_more.utilisation[place] < as_it_was.utilisation[place]
    assert with_more.latency[place] <= as_it_was.latency[place]


@given(companies, st.integers(0, 29))
@settings(deadline=None)
def test_trouble_comes_up_the_graph_and_nowhere_else(company: Company, which: int) -> None:
    place = which % len(company.services)
    at = flow(company, calm(company), 1.0, company.replicas, {place: Modifiers(errors=0.4)})
    above = {place}
    for i in reversed(range(len(company.services))):
        if any(callee in above for callee in company.callees(i)):
            above.add(i)
    assert {i for i, error in enumerate(at.errors) if error > 1e-12} == above


def test_failing_calls_are_tried_again() -> None:
    company = found_company(key_of("retries"), 8, "common")
    leaf = next(i for i, calls in enumerate(company.calls) if not calls)
    broken = {leaf: Modifiers(errors=0.4)}
    first = flow(company, calm(company), 1.0, company.replicas, broken)
    second = flow(company, first, 1.0, company.replicas, broken)
    # At least its own callers try again; theirs may as well.
    again = second.utilisation[leaf] / first.utilisation[leaf]
    assert 1 + RETRIES * 0.4 - 1e-9 <= again < 1.5


def incident_of(seed: int, tier: str = "hard", split: str = "train") -> ArenaIncident:
    return PACK.incident(make_scenario(pack="arena", split=split, tier=tier, seed=seed))


@pytest.mark.parametrize("tier", Tier)
def test_a_healthy_company_stays_healthy_for_200_steps(tier: Tier) -> None:
    for seed in range(25):
        incident = incident_of(seed, tier)
        state = incident.without_cause()
        for step in range(1, 201):
            state, _ = incident.advance(state, Noop(), (), step)
            assert not any(incident.health(state)), (seed, step)


def knowing(incident: ArenaIncident, *mechanisms: Mechanism) -> ArenaIncident:
    """The same company with other faults in its runbook."""
    return incident._replace(mechanisms={one.id: one for one in mechanisms})


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_a_mechanism_breaks_what_it_shows_at_and_removing_it_heals_all(
    mechanism: Mechanism,
) -> None:
    struck = 0
    for seed in range(8):
        incident = knowing(incident_of(seed), mechanism)
        for place in mechanism.places(incident.company):
            struck += 1
            fault = Fault(mechanism.id, place, 1.0, True)
            state = incident.without_cause()._replace(faults=(fault,))
            for step in range(1, 6):
                state, _ = incident.advance(state, Noop(), (), step)
            shown = mechanism.shows_at(incident.company, place)
            assert any(incident.health(state)[i] for i in shown), (seed, place)
            state = state._replace(faults=(fault._replace(active=False),))
            for step in range(6, 16):
                state, _ = incident.advance(state, Noop(), (), step)
            assert not any(incident.health(state)), (seed, place)
            assert state.faults == ()
    assert struck


@pytest.mark.parametrize("shows", Shows)
def test_damage_is_done_where_the_fault_shows_and_mended_where_it_struck(shows: Shows) -> None:
    mechanism = replace(
        MECHANISMS["bad_config"], strikes=KINDS, effect=Modifiers(errors=0.35), shows=shows
    )
    for seed in range(8):
        incident = knowing(incident_of(seed), mechanism)
        company = incident.company
        for place in mechanism.places(company):
            below, above = company.callees(place), company.callers(place)
            expected = {Shows.HERE: (place,), Shows.BELOW: below, Shows.ABOVE: above}[shows]
            assert mechanism.shows_at(company, place) == expected
            assert set(mechanism.modifiers(company, place, 1.0)) == set(expected)
            state = incident.without_cause()._replace(
                faults=(Fault(mechanism.id, place, 0.8, True),)
            )
            for i in (place, *below, *above):
                helps = incident.act(state, Rollback(company.services[i]), 1).helps
                assert helps is (i == place), (seed, place, i)


@pytest.mark.parametrize("split", SPLITS)
def test_an_incident_begins_with_damage_where_its_fault_shows(split: str) -> None:
    for tier in Tier:
        for seed in range(4):
            incident = incident_of(seed, tier, split)
            mechanism, place = incident.plot.cause.mechanism, incident.plot.target
            well = incident.health(incident.first_state())
            assert any(well[i] for i in mechanism.shows_at(incident.company, place)), (tier, seed)


def test_stocks_fill_until_somebody_empties_them() -> None:
    found = set()
    for seed in range(40):
        env = Env(make_scenario(pack="arena", split="train", tier="easy", seed=seed))
        incident = env.world.truth.incident
        assert isinstance(incident, ArenaIncident)
        stock = incident.mechanisms[env.cause].stock
        if stock is None:
            continue
        found.add(stock)
        field = {"memory": "memory_mb", "disk": "disk_pct"}[stock]
        levels = []
        for _ in range(6):
            reading = env.world.public.sensors.metrics()[incident.plot.target]
            levels.append(int(getattr(reading, field)))
            env.step(Noop())
        assert levels[-1] > levels[0], seed
    assert found == {"memory", "disk"}


def test_a_wrong_restart_under_load_can_tip_a_neighbour_over() -> None:
    tipped = 0
    for seed in range(12):
        env = Env(make_scenario(pack="arena", split="train", tier="hard", seed=seed))
        incident = env.world.truth.incident
        assert isinstance(incident, ArenaIncident)
        services = env.world.public.rules.services
        left_alone = incident.health(engine.step(env.world, Role.DEV, Noop())[0].truth.state)
        for place, service in enumerate(services):
            world, events = engine.step(env.world, Role.DEV, Restart(service))
            after = incident.health(world.truth.state)
            broken = {i for i, h in enumerate(after) if h and not left_alone[i]} - {place}
            assert events.second_order == (bool(broken) and events.wrong_fix)
            tipped += events.second_order
    assert tipped >= 5


def test_a_restart_with_room_to_spare_tips_nobody() -> None:
    """At a fifth of the load the same restarts are harmless."""
    for seed in range(12):
        incident = incident_of(seed)
        company, promised = incident.company, objectives(incident.company)
        quiet = flow(company, calm(company), 0.2, company.replicas, {})
        for place in range(len(company.services)):
            half = {place: Modifiers(capacity=0.4)}
            assert not any(health(flow(company, quiet, 0.2, company.replicas, half), promised))


def test_two_faults_on_one_service_add_up() -> None:
    both = Modifiers(capacity=0.5, errors=0.2).joined(Modifiers(capacity=0.4, errors=0.5))
    assert both.capacity == pytest.approx(0.2)
    assert both.errors == pytest.approx(0.6)
    known = [MECHANISMS[name] for name in ("bad_config", "expired_certificate")]
    incident = knowing(incident_of(0), *known)
    place = next(i for i, kind in enumerate(incident.company.kinds) if kind == "api")
    faults = [Fault(mechanism.id, place, 1.0, True) for mechanism in known]
    errors = []
    for at_work in ([faults[0]], [faults[1]], faults):
        state, _ = incident.advance(
            incident.without_cause()._replace(faults=tuple(at_work)), Noop(), (), 1
        )
        errors.append(state.flow.errors[place])
    assert errors[2] > max(errors[:2])
