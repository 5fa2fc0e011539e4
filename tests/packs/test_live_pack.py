"""The live pack over a fake platform: its plans, its incidents, what it refuses and records."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from chaosops import play
from chaosops.core.actions import Noop, Restart
from chaosops.core.errors import BadInput
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.evaluation.cases import case_of
from chaosops.live.plan import CompanyPlan
from chaosops.live.platform import INFRASTRUCTURE, Observation, Platform, VoidRun
from chaosops.packs import load_pack, loadable_packs, make_scenario, splits, training_splits
from chaosops.packs.arena.acts import change_pct
from chaosops.packs.arena.state import CompanyState, Fault
from chaosops.packs.live import PACK, LivePack
from chaosops.packs.live.incident import LiveIncident, LiveState
from chaosops.packs.live.plans import plan_of
from chaosops.packs.live.reports import report_of
from chaosops.packs.rehearsal.incidents import write_incident
from chaosops.packs.rehearsal.mechanisms import PLACED
from chaosops.report.episode_html import episode_html
from chaosops.report.prompts import shown_prompts
from chaosops.wire.ending import explanation
from chaosops.wire.episodes import from_record, to_record
from chaosops.world import real_time
from tests.fake_platform import AT_ONCE, FakePlatform

SEEDS = range(12)


@pytest.fixture
def companies(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[FakePlatform]]:
    """The companies that were started, in place of processes."""
    started: list[FakePlatform] = []

    def start(plan: object) -> FakePlatform:
        started.append(FakePlatform(plan))  # type: ignore[arg-type]
        return started[-1]

    monkeypatch.setattr(PACK, "start", start)
    monkeypatch.setattr(PACK, "pace", AT_ONCE)
    monkeypatch.setattr(real_time, "_permitted", True)
    yield started
    PACK.close()


def scenario(seed: int, tier: str = "hard", pack: str = "live") -> Scenario:
    return make_scenario(pack=pack, tier=tier, seed=seed)


def opened(env: Env) -> tuple[LiveIncident, CompanyState]:
    incident, state = env.world.truth.incident, env.world.truth.state
    assert isinstance(incident, LiveIncident)
    assert isinstance(state, LiveState)
    return incident, state.judged


@pytest.mark.parametrize("tier", list(Tier))
@pytest.mark.parametrize("policy", ["oracle", "auditor"])
def test_a_team_plays_it_as_the_rehearsal(
    companies: list[FakePlatform], tier: Tier, policy: str
) -> None:
    for seed in SEEDS:
        live = play(scenario(seed, tier), policy)
        simulated = play(scenario(seed, tier, "rehearsal"), policy)
        assert live.resolved
        assert simulated.resolved
        assert (live.rogue, live.cause) == (simulated.rogue, simulated.cause)
        assert live.rogue_caught == simulated.rogue_caught
        assert not live.false_flags
        assert not live.miscommunications
        assert companies[-1].closed == 1
        assert (live.rogue in companies[-1].held) == (live.rogue is not None)
    assert len(companies) == len(SEEDS)


def test_policies_see_what_the_rehearsal_shows(companies: list[FakePlatform]) -> None:
    for seed in SEEDS:
        live, simulated = (Env(scenario(seed, pack=pack)) for pack in ("live", "rehearsal"))
        assert live.world.public.rules == simulated.world.public.rules
        for view in (live.view, simulated.view):
            assert view.alerts
        assert live.world.public.sensors.trace() == simulated.world.public.sensors.trace()
        rules = live.world.public.rules
        live.step({"action": "inspect", "target": rules.services[1]})
        simulated.step({"action": "inspect", "target": rules.services[1]})
        live.step({"action": "audit", "target": rules.agents[0]})
        simulated.step({"action": "audit", "target": rules.agents[0]})
        assert live.world.public.findings == simulated.world.public.findings


def test_without_a_repair_it_stays_broken_and_is_taken_down(companies: list[FakePlatform]) -> None:
    env = Env(scenario(0, "easy"))
    for _ in range(env.world.public.limit):
        assert not env.over
        env.step(Noop())
    assert env.over
    assert companies[-1].broken()
    assert companies[-1].closed == 1
    with pytest.raises(BadInput, match="over"):
        env.step(Noop())


def test_a_rogue_strikes_again_until_it_is_contained(companies: list[FakePlatform]) -> None:
    found = 0
    for seed in range(80):
        plot = write_incident(Tier.HARD, seed).plot
        if not plot.returns:
            continue
        found += 1
        episode = play(scenario(seed), "oversight=random,others=oracle")
        author = plot.rogue or INFRASTRUCTURE
        target = companies[-1].company.services[plot.target]
        back = [
            change
            for change in companies[-1].log
            if change.by == author and change.at > 0 and change.service == target
            if change.setting == plot.cause.mechanism.setting
        ]
        assert len(back) <= len(plot.returns)
        contained = plot.rogue is not None and plot.rogue in companies[-1].held
        assert contained or len(back) == len(plot.returns) or not episode.resolved
    assert found > 10


def test_neglected_work_strikes(companies: list[FakePlatform]) -> None:
    env = Env(scenario(3))
    for agent in env.world.public.rules.agents:
        while env.role is not Role.OVERSIGHT:
            env.step(Noop())
        if not env.over:
            env.step({"action": "flag_rogue", "target": agent})
    while not env.over:
        env.step(Noop())
    neglected = [change for change in companies[-1].log if change.by == INFRASTRUCTURE]
    assert {change.service for change in neglected} & set(companies[-1].broken())


def test_routine_does_not_repair_neglected_work(companies: list[FakePlatform]) -> None:
    """What strikes where agents write too strikes again after they wrote."""
    env = Env(scenario(3))
    incident, state = opened(env)
    plotted = incident.plotted
    kinds = {kind.mechanism.setting: kind.name for kind in plotted.plot.kinds}
    step, entry = next(
        (step, entry)
        for step in range(1, 30)
        for entry in plotted.scenery.routine(step)
        if kinds[entry.action] != plotted.cause
    )
    place = plotted.company.services.index(entry.target)
    fault = Fault(kinds[entry.action], place, 0.5, True)
    state = state._replace(faults=(fault,))
    written = [(c.service, c.setting) for c in incident._strikes(state, state, step)]
    assert written == [(entry.target, entry.action)]
    faded = state._replace(faults=(fault._replace(active=False),))
    assert not incident._strikes(faded, state, step)
    others = [
        other
        for other in range(1, 30)
        if (entry.target, entry.action)
        not in {(one.target, one.action) for one in plotted.scenery.routine(other)}
    ]
    assert others
    assert not any(incident._strikes(state, state, other) for other in others)


def test_a_live_incident_cannot_be_forked(companies: list[FakePlatform]) -> None:
    env = Env(scenario(1))
    fork = env.fork()
    env.step(Noop())
    with pytest.raises(BadInput, match="cannot be forked"):
        fork.step(Noop())


def test_a_new_incident_ends_the_company_before_it(companies: list[FakePlatform]) -> None:
    first = Env(scenario(1))
    Env(scenario(2))
    assert [company.closed for company in companies] == [1, 0]
    with pytest.raises(BadInput, match="taken down"):
        first.step(Noop())


def test_a_fault_that_does_not_show_makes_the_run_void(
    companies: list[FakePlatform], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakePlatform, "broken", lambda self: {})
    with pytest.raises(BadInput, match="void"):
        Env(scenario(1))
    assert [company.closed for company in companies] == [1, 1, 1]


def test_a_company_that_does_not_start_is_started_again(
    companies: list[FakePlatform], monkeypatch: pytest.MonkeyPatch
) -> None:
    start, failures = PACK.start, [VoidRun("the live company did not start"), None]

    def start_late(plan: CompanyPlan) -> Platform:
        if (failure := failures.pop(0)) is not None:
            raise failure
        return start(plan)

    monkeypatch.setattr(PACK, "start", start_late)
    assert Env(scenario(1)).observed[0]["starts"] == 2


def test_what_would_fail_again_is_not_tried_again(
    companies: list[FakePlatform], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[object] = []

    def refuse(plan: CompanyPlan) -> Platform:
        tries.append(plan)
        raise BadInput("PostgreSQL cannot run as root")

    monkeypatch.setattr(PACK, "start", refuse)
    with pytest.raises(BadInput, match="as root") as found:
        Env(scenario(1))
    assert not isinstance(found.value, VoidRun)
    assert len(tries) == 1


def test_a_step_without_sight_is_neither_quiet_nor_troubled(
    companies: list[FakePlatform], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = play(scenario(2, "easy"), "oracle")
    observe = FakePlatform.observe

    def blind_at_first(self: FakePlatform, minute: int) -> Observation:
        return observe(self, minute)._replace(blind=4 <= minute < 8)

    monkeypatch.setattr(FakePlatform, "observe", blind_at_first)
    blind = play(scenario(2, "easy"), "auditor")
    assert plain.resolved
    assert blind.resolved
    quiet = [not entry["seen"]["blind"] for entry in blind.observed[1:]]
    assert sum(quiet[-11:]) >= 7


@pytest.mark.parametrize(("share", "void"), [(0.1, False), (0.5, True), (1.0, True)])
def test_a_run_in_which_nothing_could_be_seen_is_void(
    companies: list[FakePlatform], share: float, void: bool
) -> None:
    """Also where no second of the steps themselves was disturbed."""
    episode = play(scenario(2, "easy"), "oracle")
    steps = episode.observed[1:]
    for entry in steps[: round(share * len(steps))]:
        entry["seen"]["blind"] = True
    assert report_of(episode).void_seconds == 0
    assert report_of(episode).is_void is void
    assert any("no service could be judged" in line for line in explanation(episode))


@pytest.mark.parametrize(
    ("sick", "void", "durable"), [(0, 0, True), (1, 0, False), (0, 40, None), (1, 40, None)]
)
def test_a_spoiled_watch_says_nothing_whatever_was_seen(
    companies: list[FakePlatform], sick: int, void: float, durable: bool | None
) -> None:
    episode = play(scenario(2, "easy"), "oracle")
    after = {"seconds": 42.5, "sick": sick, "blind": 0, "void_seconds": void}
    episode.observed[-1]["after"] = after
    assert report_of(episode).is_durable is durable


def test_thinking_does_not_dilute_void_seconds(companies: list[FakePlatform]) -> None:
    episode = play(scenario(2, "easy"), "oracle")
    for entry in episode.observed[1:]:
        entry["seconds"], entry["void_seconds"], entry["thought_s"] = 2.5, 0.6, 60.0
    episode.observed[0]["seconds"] = 0.0
    report = report_of(episode)
    assert report.is_void
    assert load_pack("live").is_void(episode)
    assert report.thought_s == 60.0


def test_carrying_out_a_remedy_is_no_thought(
    companies: list[FakePlatform], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(self: FakePlatform, verb: str, service: str, replicas: int = 0) -> None:
        time.sleep(0.3)

    monkeypatch.setattr(FakePlatform, "remedy", slowly)
    env = Env(scenario(2, "easy"))
    for _ in range(3):
        env.step(Noop() if env.role is not Role.DEV else Restart("ledger"))
    assert [entry["thought_s"] < 0.2 for entry in env.observed[1:]] == [True] * 3


def test_a_recording_is_shown_without_a_company(companies: list[FakePlatform]) -> None:
    played = play(scenario(4), "auditor")
    wire = json.loads(json.dumps(to_record(played)))
    started = len(companies)
    shown = from_record(wire)
    assert shown == played
    assert list(shown_prompts(shown)) == list(shown_prompts(played))
    assert case_of(shown).rogue == played.rogue
    assert "</html>" in episode_html(shown, {})
    assert any("requests of users failed" in line for line in explanation(shown))
    assert len(companies) == started


def test_a_recording_without_observations_is_refused(companies: list[FakePlatform]) -> None:
    record = to_record(play(scenario(4), "auditor"))
    del record["observed"]
    with pytest.raises(BadInput, match="needs 'observed'"):
        from_record(record)


def test_a_changed_decision_is_noticed(companies: list[FakePlatform]) -> None:
    record = to_record(play(scenario(4), "auditor"))
    record["decisions"][1] = {"action": {"action": "audit", "target": "nobody"}}
    with pytest.raises(BadInput):
        from_record(record)


def test_after_the_end_it_is_watched(
    companies: list[FakePlatform], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PACK, "pace", AT_ONCE._replace(step=0.01, lasts=0.11))
    episode = play(scenario(2, "easy"), "oracle")
    assert episode.observed[-1]["after"] == {
        "seconds": pytest.approx(0.05),
        "sick": 0,
        "blind": 0,
        "void_seconds": 0,
    }
    assert "The company stayed well for 0.05 seconds after that." in explanation(episode)


def test_a_cause_that_comes_back_after_the_end_is_seen(
    companies: list[FakePlatform], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rogue at large undoes a repair, also where the Manager has closed the incident."""
    monkeypatch.setattr(PACK, "pace", AT_ONCE._replace(step=0.01, lasts=0.11))
    env = Env(scenario(2, "easy"))
    incident, state = opened(env)
    due = state._replace(faults=(), quarantined=(), due=3)
    coming = incident._relapses(due, (), 1)
    strikes = [next(coming) for _ in range(4)]
    plot = incident.plotted.plot
    back = [(change.service, change.setting) for change in strikes[1]]
    assert back == [(env.world.public.rules.services[plot.target], plot.cause.mechanism.setting)]
    assert not strikes[0]
    assert not strikes[2]


def test_nothing_plays_it_by_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_time, "_permitted", False)
    monkeypatch.setattr(PACK, "start", lambda plan: pytest.fail("a company was started"))
    with pytest.raises(BadInput, match="chaosops run, watch and eval --pack live"):
        Env(scenario(0))
    assert load_pack("live").real_time
    assert "live" not in [pack.name for pack in loadable_packs()]
    assert splits()["fixed"] == "rehearsal"
    assert "fixed" not in training_splits()


@pytest.mark.parametrize("tier", list(Tier))
def test_plans_hold_the_plot(tier: Tier) -> None:
    for seed in range(40):
        incident = write_incident(tier, seed)
        plot = incident.plot
        plan = plan_of(incident, seed, 32)
        known = {(one.service, one.setting): one for one in plan.settings}
        assert len(known) == len(plan.settings)
        assert all((act.service, act.setting) in known for act in plan.acts)
        assert [act.at for act in plan.acts] == sorted(act.at for act in plan.acts)
        shown = [act for act in plan.acts if act.shown and act.at < 0]
        assert [(a.agent, a.setting, a.at) for a in shown] == [
            (a.agent, a.setting, a.at) for a in plot.shown()
        ]
        # Nothing but the cause goes beyond a threshold, at any minute.
        target = incident.company.services[plot.target]
        at_cause = (target, plot.cause.mechanism.setting)
        for act in plan.acts:
            one = known[act.service, act.setting]
            moved = change_pct(one.usual, act.after) * PLACED[one.fault].harmful
            if act.real and (act.service, act.setting) != at_cause:
                assert moved * 100 <= one.threshold_pct * 92
        real = [act for act in plan.acts if act.real and (act.service, act.setting) == at_cause]
        assert change_pct(known[at_cause].usual, real[-1].after) * PLACED[
            plot.cause.name
        ].harmful >= (known[at_cause].threshold_pct * 124 // 100)


def test_it_is_the_pack_that_ships() -> None:
    assert isinstance(load_pack("live"), LivePack)
