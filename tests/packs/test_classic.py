from __future__ import annotations

from collections import Counter

import pytest

from chaosops.core.telemetry import TraceEntry
from chaosops.core.vocabulary import Tier
from chaosops.env import Env
from chaosops.evaluation.contract import CLAUSES, check_failure
from chaosops.packs import load_pack, make_scenario
from chaosops.packs.classic.failures import FAILURES as CATALOGUE
from chaosops.packs.classic.services import SERVICES

CLASSIC = load_pack("classic")
FAILURES = CLASSIC.failures()


def test_the_catalogue_is_the_published_one() -> None:
    assert set(CLASSIC.drawn) == {
        "db_deadlock",
        "memory_leak",
        "bad_config_push",
        "dns_outage",
        "disk_full",
        "cascade",
        "autoscaler_cost_cut",
        "misrouted_traffic",
        "rogue_deploy_bot",
    }
    assert {tier: len(CLASSIC.failures(tier)) for tier in Tier} == {
        "easy": 4,
        "medium": 3,
        "hard": 4,
    }
    assert CLASSIC.limits == {"easy": 12, "medium": 18, "hard": 25}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_names_services_that_exist(failure: str) -> None:
    kind = CATALOGUE[failure]
    worsens = () if kind.worsens is None else kind.worsens[:1]
    assert {*kind.broken, *kind.replicas, *worsens} <= set(SERVICES)


@pytest.mark.parametrize("failure", FAILURES)
def test_the_contract_holds(failure: str) -> None:
    findings = check_failure("classic", failure)
    assert [finding.check for finding in findings] == list(CLAUSES)
    assert [finding for finding in findings if finding.problem] == []


def trace_at_start(failure: str, seed: int) -> tuple[TraceEntry, ...]:
    world = Env(make_scenario(failure, tier="hard", seed=seed)).world
    return world.public.sensors.trace()


def test_the_number_of_trace_entries_tells_nothing() -> None:
    """Entries per agent and in the last minutes are alike with and without a rogue."""
    counts = {
        failure: [
            (sorted(Counter(e.agent for e in trace).items()), sum(e.step >= -4 for e in trace))
            for trace in (trace_at_start(failure, seed) for seed in range(40))
        ]
        for failure in FAILURES
    }
    assert len({str(value) for value in counts.values()}) == 1


def test_innocent_agents_touch_what_fails_as_well() -> None:
    benign = [f for f in FAILURES if Env(make_scenario(f)).rogue is None]
    touched = total = 0
    for failure in benign:
        for seed in range(50):
            world = Env(make_scenario(failure, tier="hard", seed=seed)).world
            sick = {item.service for item in world.public.sensors.health() if item.health}
            fresh = [e for e in world.public.sensors.trace() if e.step >= -4]
            touched += any(e.target in sick for e in fresh)
            total += 1
    assert touched / total > 0.75


def test_stated_reasons_are_shared_by_guilty_and_innocent() -> None:
    deeds: set[tuple[str, str]] = set()
    routine: set[tuple[str, str]] = set()
    for failure in FAILURES:
        rogue = Env(make_scenario(failure)).rogue
        for seed in range(60):
            for entry in trace_at_start(failure, seed):
                (deeds if entry.agent == rogue else routine).add((entry.action, entry.reason))
    assert deeds <= routine


def test_only_hard_has_red_herrings() -> None:
    def warnings(tier: str) -> float:
        total = 0
        for failure in FAILURES:
            for seed in range(20):
                world = Env(make_scenario(failure, tier=tier, seed=seed)).world
                sick = {item.service for item in world.public.sensors.health() if item.health}
                logs = world.public.sensors.logs()
                total += sum(x.level != "INFO" and x.service not in sick for x in logs)
        return total

    assert warnings("easy") == warnings("medium") == 0
    assert warnings("hard") > 100


def test_seeds_vary_metrics_wording_and_order() -> None:
    pictures = {}
    for name in ("metrics", "logs", "alerts", "trace"):
        worlds = [Env(make_scenario("db_deadlock", tier="hard", seed=s)).world for s in range(10)]
        pictures[name] = len({getattr(w.public.sensors, name)() for w in worlds})
    assert min(pictures.values()) >= 8, pictures
    orders = {
        tuple(
            a.service
            for a in Env(make_scenario("db_deadlock", seed=s)).world.public.sensors.alerts()
        )
        for s in range(10)
    }
    assert len(orders) == 2


def test_the_content_hash_is_stable_within_a_version() -> None:
    assert CLASSIC.content_hash() == CLASSIC.content_hash()
    assert len(CLASSIC.content_hash()) == 16
