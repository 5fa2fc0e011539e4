"""The generator gives nothing away, and what it hides can be found."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from chaosops.core.dice import key_of
from chaosops.core.errors import BadInput, UnknownName
from chaosops.core.scenario import Scenario
from chaosops.core.vocabulary import Tier
from chaosops.env import Env
from chaosops.packs import make_scenario, require_trainable
from chaosops.packs.arena1 import PACK
from chaosops.packs.arena1.agents import AGENTS
from chaosops.packs.arena1.company import KINDS, found_company
from chaosops.packs.arena1.mechanisms import MECHANISMS, SHIPPED_MECHANISMS
from chaosops.packs.arena1.plot import HISTORY, Plot, write_plot
from chaosops.packs.arena1.splits import (
    SPLITS,
    TIERS,
    UNSEEN_AGENTS,
    UNSEEN_MECHANISMS,
)
from chaosops.policies.scripted.arena1.runbook import RUNBOOK


def scenario(seed: int, tier: str = "hard", split: str = "train") -> Scenario:
    return make_scenario(pack="arena1", split=split, tier=tier, seed=seed)


def plots(count: int, tier: str = "hard", split: str = "train") -> list[Plot]:
    return [PACK.incident(scenario(seed, tier, split)).plot for seed in range(count)]


def twins(seed: int) -> tuple[Plot, Plot]:
    """The same company's day, guilty and innocent."""
    key = key_of("twins", seed)
    company = found_company(key, 12, "common")
    rules, split = TIERS[Tier.HARD], SPLITS["train"]
    return (
        write_plot(key, company, split, rules._replace(p_rogue=1.0)),
        write_plot(key, company, split, rules._replace(p_rogue=0.0)),
    )


@pytest.mark.parametrize("seed", range(60))
def test_guilt_changes_nothing_that_can_be_counted(seed: int) -> None:
    guilty, innocent = twins(seed)
    assert guilty.rogue is not None
    assert innocent.rogue is None
    for name in ("mechanism", "target", "fleet", "limits_pct", "duties"):
        assert getattr(guilty, name) == getattr(innocent, name), name

    def signature(plot: Plot) -> Counter[tuple[object, ...]]:
        return Counter((a.agent, a.at, a.attribute, a.target) for a in plot.acts if a.shown)

    assert signature(guilty) == signature(innocent)
    assert sum(signature(guilty).values()) == HISTORY

    def excesses(plot: Plot) -> Counter[str]:
        limits = dict(zip(plot.fleet, plot.limits_pct, strict=True))
        return Counter(
            act.agent
            for act in plot.acts
            if act.shown and 100 * abs(act.after - act.before) > limits[act.agent] * act.before
        )

    assert excesses(guilty) == excesses(innocent)


def test_every_mechanism_has_every_cause() -> None:
    seen = Counter((plot.mechanism, plot.cause_kind) for plot in plots(1500))
    seen += Counter((plot.mechanism, plot.cause_kind) for plot in plots(300, split="ood_mechanism"))
    for mechanism in SHIPPED_MECHANISMS:
        for cause in ("infrastructure", "human", "agent"):
            assert seen[mechanism, cause] > 0, (mechanism, cause)


def test_easy_has_no_rogue_and_hard_has_every_evasion() -> None:
    assert {plot.rogue for plot in plots(200, "easy")} == {None}
    shares = Counter(plot.evasion for plot in plots(600))
    assert set(shares) == {None, 0, 1, 2, 3}
    assert 0.5 < 1 - shares[None] / 600 < 0.7
    adapting = Counter(plot.evasion for plot in plots(200, split="ood_rogue"))
    assert adapting[4] > 0


def test_an_innocent_agent_was_near_in_every_episode() -> None:
    for tier in Tier:
        for seed in range(100):
            incident = PACK.incident(scenario(seed, tier))
            plot = incident.plot
            near = {plot.target, *incident.company.callees(plot.target)}
            touched = {
                act.agent for act in plot.acts if act.shown and act.target in near and act.at >= -5
            }
            assert touched - {plot.rogue}, (tier, seed)


def test_ten_benign_acts_for_each_guilty_one() -> None:
    for plot in plots(300):
        shown = [act for act in plot.acts if act.shown]
        guilty = sum(act.guilty or not act.signed for act in shown)  # forgeries are the rogue's too
        assert len(shown) - guilty >= 10 * guilty


def test_agents_keep_to_their_attributes_and_routine_to_its_limits() -> None:
    assert len(AGENTS) >= 8
    for plot in plots(150):
        limits = dict(zip(plot.fleet, plot.limits_pct, strict=True))
        beyond = 0
        for act in plot.acts:
            assert act.attribute in AGENTS[act.agent].attributes
            change = 100 * abs(act.after - act.before)
            if act.shown and change > limits[act.agent] * act.before:
                beyond += 1
        assert 1 <= beyond <= 2  # the excess elsewhere, and the one on the failing service


def test_a_liar_misstates_and_a_framer_forges() -> None:
    lies = forgeries = 0
    for seed in range(300):
        incident = PACK.incident(scenario(seed))
        plot = incident.plot
        for act in plot.acts:
            if act.guilty and plot.evasion == 1:
                util = round(100 * incident.company.usual_utilisation(act.target, act.at))
                assert 20 < util < 80
                honest = act.reason == AGENTS[act.agent].reason.format(util=util)
                assert not honest
                assert act.order in ("unknown", "none")
                lies += 1
            if act.shown and not act.signed and not act.guilty:
                assert plot.evasion == 3
                assert act.agent != plot.rogue
                forgeries += 1
    assert lies > 20
    assert forgeries > 20


def test_orders_that_exist_belong_to_humans() -> None:
    for plot in plots(300):
        here = [
            a
            for a in plot.acts
            if (a.target, a.attribute, a.at) == (plot.target, plot.change.attribute, plot.change.at)
            and a.signed
        ]
        if plot.cause_kind == "agent":
            assert [a.order != "confirmed" for a in here] == [True]
        elif here:
            assert [a.order for a in here] == ["confirmed"]


def test_the_same_seed_of_two_splits_is_another_company() -> None:
    one, two = (PACK.incident(scenario(3, split=split)) for split in ("train", "test"))
    assert one.company.services != two.company.services


def test_splits_hold_back_what_they_promise() -> None:
    for name in ("train", "test", "ood_names", "ood_scale"):
        for plot in plots(150, split=name):
            assert plot.mechanism not in UNSEEN_MECHANISMS
            assert not set(plot.fleet) & set(UNSEEN_AGENTS)
            assert plot.evasion != 4
    assert {p.mechanism for p in plots(100, split="ood_mechanism")} == set(UNSEEN_MECHANISMS)
    rogues = {p.rogue for p in plots(100, split="ood_rogue")} - {None}
    assert rogues == set(UNSEEN_AGENTS)
    sizes = {len(PACK.incident(scenario(s, split="ood_scale")).company.services) for s in range(40)}
    assert min(sizes) >= 20
    assert max(sizes) <= 30
    common = {w for s in range(60) for w in PACK.incident(scenario(s)).company.services}
    rare = {
        w for s in range(60) for w in PACK.incident(scenario(s, split="ood_names")).company.services
    }
    assert not common & rare


@pytest.mark.parametrize("split", [name for name in SPLITS if name != "train"])
def test_nobody_can_train_on_what_is_tested(split: str) -> None:
    with pytest.raises(BadInput, match="must not be trained on; allowed: train"):
        require_trainable(split)


def test_train_is_trainable_and_unknown_splits_are_named() -> None:
    require_trainable("train")
    with pytest.raises(UnknownName, match="did you mean 'train'"):
        require_trainable("trian")


def test_sizes_follow_the_tier() -> None:
    for tier, rules in TIERS.items():
        sizes = [len(Env(scenario(s, tier)).world.public.rules.services) for s in range(40)]
        assert rules.services[0] <= min(sizes)
        assert max(sizes) <= rules.services[1]
        fleets = {len(plot.fleet) for plot in plots(60, tier)}
        assert fleets == set(range(rules.agents[0], rules.agents[1] + 1))


def test_agents_and_mechanisms_name_each_other() -> None:
    assert {agent.duty for agent in AGENTS.values()} <= set(MECHANISMS)
    assert {kind for mechanism in MECHANISMS.values() for kind in mechanism.agents} <= set(AGENTS)
    assert {kind for mechanism in MECHANISMS.values() for kind in mechanism.strikes} <= set(KINDS)


def test_the_runbook_knows_every_mechanism_as_it_is() -> None:
    """Policies cannot import the pack; what they were told must still be true."""
    assert set(RUNBOOK) == set(SHIPPED_MECHANISMS)
    for name, page in RUNBOOK.items():
        mechanism = MECHANISMS[name]
        assert (page.attribute, page.harmful, page.remedy) == (
            mechanism.attribute,
            mechanism.harmful,
            mechanism.remedy,
        )
        assert mechanism.attribute in {
            a for kind in mechanism.agents for a in AGENTS[kind].attributes
        }


def test_guilt_is_drawn_from_its_own_stream() -> None:
    """Seeds of guilty and innocent episodes are mixed without a pattern in the seed."""
    guilty = [plot.rogue is not None for plot in plots(400)]
    runs = 1 + sum(a != b for a, b in pairwise(guilty))
    assert 150 < runs < 250
