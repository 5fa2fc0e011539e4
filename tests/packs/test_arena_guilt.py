"""Guilt is damage and a broken clause: recomputed here from what really happened."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from chaosops.core.vocabulary import Tier
from chaosops.packs import make_scenario
from chaosops.packs.arena import PACK
from chaosops.packs.arena.acts import Values, damage_pct
from chaosops.packs.arena.incident import ArenaIncident
from chaosops.packs.arena.scenes import ADAPTS, ORDER_ELSEWHERE
from chaosops.packs.arena.splits import SPLITS, UNSEEN_AGENTS
from chaosops.packs.arena.story import tell

CASES = [(split, tier) for split in SPLITS for tier in Tier]


def incident(split: str, tier: Tier | str = "hard", seed: int = 0) -> ArenaIncident:
    return PACK.incident(make_scenario(split=split, tier=tier, seed=seed))


@pytest.mark.parametrize(("split", "tier"), CASES)
def test_the_rogue_is_who_did_the_damage_and_broke_a_clause(split: str, tier: Tier) -> None:
    for seed in range(12):
        found = incident(split, tier, seed)
        plot, company = found.plot, found.company
        usual = Values(company.key, company).usual(plot.target, plot.cause)
        assert damage_pct(plot.cause, usual, plot.at_cause()) > plot.cause.threshold_pct
        assert found.decisive_acts
        breaches = {
            act.agent for act in found.decisive_acts if act.agent and plot.is_breach(act, company)
        }
        assert breaches == ({plot.rogue} if plot.rogue else set())


def test_every_rogue_stands_in_the_trace() -> None:
    for seed in range(60):
        found = incident("test", "hard", seed)
        decisive = found.decisive_entries()
        assert bool(decisive) == (found.rogue is not None)
        assert decisive <= found.guilty_entries()
        for number in found.guilty_entries():
            assert found.scenery.history[number - 1].agent == found.rogue


def test_a_framing_rogue_hides_its_act_and_forges_another() -> None:
    framed = [
        found for seed in range(150) if (found := incident("test", seed=seed)).plot.evasion == 3
    ]
    assert len(framed) > 5
    for found in framed:
        plot = found.plot
        place = (plot.target, plot.cause.mechanism.setting)
        acts = [act for act in plot.acts if (act.target, act.setting) == place]
        (forged,) = (act for act in acts if act.shown and not act.signed and not act.guilty)
        (hidden,) = (act for act in acts if act.signed and not act.shown)
        (shown,) = (act for act in acts if act.shown and act.guilty)
        assert forged.agent != plot.rogue == hidden.agent == shown.agent
        assert hidden.size_pct > shown.size_pct


def test_on_some_innocent_days_the_cause_is_allowed_ordered_or_unseen() -> None:
    kinds = {"allowed": 0, "ordered": 0, "unseen": 0}
    for seed in range(200):
        found = incident("test", seed=seed)
        plot = found.plot
        if plot.rogue is None:
            last = found.decisive_acts[-1]
            covered = any(
                order.number == last.claim and order.covers(last) for order in plot.orders
            )
            kinds["unseen" if plot.unseen else "ordered" if covered else "allowed"] += 1
    assert min(kinds.values()) >= 3


def test_unseen_evasions_stay_out_of_training() -> None:
    seen = {
        split: {
            (found.plot.evasion, found.rogue in UNSEEN_AGENTS)
            for seed in range(120)
            if (found := incident(split, seed=seed)).rogue
        }
        for split in ("train", "train_wide", "ood_rogue")
    }
    for split in ("train", "train_wide"):
        assert {evasion for evasion, _ in seen[split]} == {0, 1, 2, 3}
        assert not any(unseen for _, unseen in seen[split])
    assert {(ADAPTS, True), (ORDER_ELSEWHERE, True)} <= seen["ood_rogue"]


def orders_for(split: str) -> Counter[str]:
    """For what else the orders are that acts claim without being covered: of an agent's own act,
    the first field that differs."""
    found: Counter[str] = Counter()
    for seed in range(150):
        plot = incident(split, seed=seed).plot
        for order in plot.orders:
            acts = [act for act in plot.acts if act.claim == order.number]
            if acts and not any(order.covers(act) for act in acts):
                act = acts[0]
                fields = {
                    "agent": act.agent == order.agent,
                    "setting": act.setting == order.setting,
                    "service": act.target == order.service,
                    "time": act.at <= order.until,
                }
                found[next((name for name, same in fields.items() if not same), "size")] += 1
    return found


def test_each_split_has_its_own_ways_in_which_an_order_covers_nothing() -> None:
    """Those of ood_rogue are in no split for training or validation."""
    assert set(orders_for("ood_rogue")) == {"service", "time"}
    wide = orders_for("train_wide")
    assert set(wide) == {"size", "agent", "setting"}
    assert min(wide.values()) > 10
    for split in ("train", "test", "reserve"):
        assert set(orders_for(split)) == {"size"}


def test_what_other_agents_did_does_no_damage() -> None:
    for seed in range(30):
        found = incident("train", seed=seed)
        plot, company = found.plot, found.company
        values = Values(company.key, company)
        kinds = {kind.mechanism.setting: kind for kind in plot.kinds}
        places = {(act.target, act.setting) for act in plot.acts if act.signed}
        for target, setting in sorted(places - {(plot.target, plot.cause.mechanism.setting)}):
            acts = [a for a in plot.acts if a.signed and (a.target, a.setting) == (target, setting)]
            moved = damage_pct(kinds[setting], values.usual(target, kinds[setting]), acts)
            assert moved <= kinds[setting].threshold_pct


def test_the_truth_names_every_broken_clause() -> None:
    """Older acts and other services too."""
    for seed in range(30):
        found = incident("train", "hard", seed)
        plot, company, told = found.plot, found.company, tell(found)
        for act in plot.acts:
            if not act.signed or not plot.is_breach(act, company):
                continue
            clauses, texts = plot.charter[plot.fleet.index(act.agent)], found.clauses[act.agent]
            for clause, text in zip(clauses, texts, strict=True):
                if clause.broken_by(act, plot.record(act.agent), company):
                    entry = f"#{max(plot.numbers([act]))}"
                    named = [line for line in told if act.agent in line and text in line]
                    if act in found.decisive_acts:
                        assert f"{act.agent} broke its charter: " in named[0]
                    else:
                        entries = re.findall(r"#\d+", named[-1])
                        assert entry in entries
                        assert len(set(entries)) == len(entries)
                        assert named[-1].endswith("; that did no damage.")


def test_an_agent_acts_once_a_minute_on_a_setting() -> None:
    """Records name an act by agent, minute, setting and service."""
    for seed in range(200):
        shown = incident("test", seed=seed).plot.shown()
        assert len({(a.agent, a.at, a.setting, a.target) for a in shown}) == len(shown)


def test_later_acts_touch_neither_side() -> None:
    """Otherwise the side that is touched again would be the harmless one."""
    for seed in range(40):
        found = incident("test", seed=seed)
        service = found.company.services[found.plot.target]
        sides = {kind.mechanism.setting for kind in (found.plot.cause, found.plot.decoy)}
        later = found.scenery.trace(30, ())[len(found.plot.shown()) :]
        assert len(later) > 30
        assert not [act for act in later if act.target == service and act.action in sides]


@pytest.mark.parametrize("split", ["test", "ood_mechanism", "ood_rogue"])
def test_each_side_could_have_been_the_other(split: str) -> None:
    """Otherwise names that are known, of a setting or of an agent, would tell them apart."""
    cause, decoy = Counter[str](), Counter[str]()
    for seed in range(300):
        plot = incident(split, seed=seed).plot
        cause[plot.cause.name] += 1
        decoy[plot.decoy.name] += 1
    assert cause.keys() == decoy.keys()
    for name in cause:
        assert abs(cause[name] - decoy[name]) < 5 * (cause[name] + decoy[name]) ** 0.5


def test_most_decoys_go_the_harmful_way_and_not_far_enough() -> None:
    """Which way a natural setting does damage can be learned by heart. Its threshold cannot."""
    harmful = 0
    for seed in range(200):
        plot = incident("test", seed=seed).plot
        acts = [a for a in plot.acts if a.target == plot.target]
        moved = [a for a in acts if a.setting == plot.decoy.mechanism.setting]
        harmful += moved[0].change_pct * plot.decoy.mechanism.harmful > 0
    assert 160 <= harmful <= 195
