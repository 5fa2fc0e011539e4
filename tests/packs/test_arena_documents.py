"""Runbooks, charters and orders: generated, in prose, and different in every company."""

from __future__ import annotations

import re
from itertools import chain, combinations, product

import pytest

from chaosops.core.dice import Dice
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.packs import make_scenario
from chaosops.packs.arena import PACK
from chaosops.packs.arena.mechanism import Shows
from chaosops.packs.arena.mechanisms import MECHANISMS
from chaosops.packs.arena.runbook import Kind
from chaosops.packs.arena.shapes import TRAINED_SHAPES, UNSEEN_SHAPES
from chaosops.packs.arena.splits import SPLITS
from chaosops.packs.arena.vocabulary import VOCABULARIES
from chaosops.packs.arena.wordings import SENTENCES, WORDING_GROUPS, Writer, wordings_of
from chaosops.roles.prompt import Style, render
from chaosops.roles.view import project


def test_vocabularies_share_no_name() -> None:
    apart = [words for name, words in VOCABULARIES.items() if name != "extra"]
    for one, other in combinations(apart, 2):
        assert not set(one.stems) & set(other.stems)
        assert not set(one.mishaps) & set(other.mishaps)
        assert not {m[0] for m in one.measures} & {m[0] for m in other.measures}
        assert not set(one.lines) & set(other.lines)
    for vocabulary in VOCABULARIES.values():
        assert len(set(vocabulary.stems)) == len(vocabulary.stems) >= 48  # of one company


@pytest.mark.parametrize("kind", SENTENCES)
def test_every_sentence_has_wordings_of_its_own_in_each_group(kind: str) -> None:
    wordings = SENTENCES[kind]
    texts = [text for group in WORDING_GROUPS for text in getattr(wordings, group)]
    assert len(wordings.evaluation) >= 2
    assert not set(wordings.evaluation) & {*wordings.train, *wordings.reserve}
    if "{" in texts[0]:  # a sentence, not a name
        assert len(set(texts)) == len(texts)
        assert len(wordings.train) >= 3
        assert wordings.reserve


def sentences(pattern: str) -> list[str]:
    """All that a pattern stands for."""
    parts = re.split(r"\[([^\[\]]*)\]", pattern)
    return ["".join(words) for words in product(*(part.split("|") for part in parts))]


@pytest.mark.parametrize("kind", SENTENCES)
def test_wide_training_has_more_wordings_and_none_that_is_kept_apart(kind: str) -> None:
    known = SENTENCES[kind]
    wide = {text for pattern in wordings_of(kind, "wide") for text in sentences(pattern)}
    kept_apart = {*known.reserve, *known.evaluation} - set(known.train)
    assert wide > set(known.train)
    assert not wide & kept_apart
    assert not any(set(text) & set("[|]") for text in wide)
    places = {frozenset(re.findall(r"{\w+}", text)) for text in wide}
    assert len(places) == 1


def test_wide_training_writes_numbers_in_many_ways_and_none_of_the_evaluation() -> None:
    def ways(group: str) -> set[str]:
        writers = [Writer(group, Dice(seed)) for seed in range(60)]
        told = ((w.percent(35), w.minute(-4), w.minute(0), w.duration(8)) for w in writers)
        return set(chain.from_iterable(told))

    assert ways("train") == {"35%", "-4", "0", "8 minutes"} < ways("wide")
    assert len(ways("wide")) >= 16
    assert not ways("wide") & ways("evaluation")


def test_companies_of_wide_training_use_the_added_wordings() -> None:
    def text_of(split: str) -> str:
        views = (
            project(Env(make_scenario(split=split, seed=seed)).world.public, Role.OVERSIGHT)
            for seed in range(12)
        )
        return " ".join(part["content"] for view in views for part in render(view, Style.MENU))

    added = ("never over", "forbidden", "closed to it", "each change stays within")
    assert any(words in text_of("train_wide") for words in added)
    assert not any(words in text_of("train") for words in added)


def drawn_runbooks(split: str, seeds: int) -> list[tuple[Kind, ...]]:
    """Of the companies whose faults are drawn."""
    plots = (
        PACK.incident(make_scenario(split=split, tier=tier, seed=seed)).plot
        for tier in Tier
        for seed in range(seeds // len(Tier))
    )
    return [plot.kinds for plot in plots if plot.cause.name not in MECHANISMS]


@pytest.fixture(scope="module")
def trained_on() -> list[tuple[Kind, ...]]:
    return drawn_runbooks("train", 300)


def test_train_has_hundreds_of_drawn_faults(trained_on: list[tuple[Kind, ...]]) -> None:
    """At least 200 in a thousand companies, here in less than a third of them. Two faults that
    differ in their words alone count once."""
    at_work = [kinds[0].mechanism for kinds in trained_on]
    assert len({(one.id, one.setting) for one in at_work}) >= 200
    shapes = {
        (one.effect, one.shows, one.stock, one.harmful, one.remedy, one.strikes) for one in at_work
    }
    assert len(shapes) >= 200


def test_train_has_nothing_of_the_other_vocabularies(trained_on: list[tuple[Kind, ...]]) -> None:
    """Names, settings and log lines of every page, not only of the fault at work."""
    known = VOCABULARIES["train"]
    measures = tuple(measure for measure, _, _ in known.measures)
    for kinds in trained_on:
        for mechanism in (kind.mechanism for kind in kinds):
            stem, mishap = mechanism.id.split("_")
            assert stem in known.stems
            assert mishap in known.mishaps
            setting, _, measure = mechanism.setting.partition("_")
            assert setting in known.stems
            assert measure in measures
    seen = {line for kinds in trained_on for kind in kinds for line in kind.mechanism.logs}
    for name in ("reserve", "evaluation"):
        for line in VOCABULARIES[name].lines:
            before, after = line.split("{s}")
            assert not [s for s in seen if s.startswith(before) and s.endswith(after)], line
        words = {word for line in seen for word in line.split()}
        assert not words & set(VOCABULARIES[name].stems)


@pytest.mark.parametrize(
    ("split", "vocabulary"), [("ood_vocabulary", "evaluation"), ("reserve",) * 2]
)
def test_splits_for_evaluation_have_words_of_their_own(split: str, vocabulary: str) -> None:
    drawn = [kind.mechanism.id for kinds in drawn_runbooks(split, 24) for kind in kinds]
    assert len(drawn) > 100
    assert {name.split("_")[0] for name in drawn} <= set(VOCABULARIES[vocabulary].stems)


def test_shapes_for_evaluation_are_not_trained_on() -> None:
    assert {shape.shows for shape in TRAINED_SHAPES} == {Shows.HERE, Shows.BELOW}
    assert any(shape.shows is Shows.ABOVE for shape in UNSEEN_SHAPES)
    trained = {(joined(shape.effect), shape.shows) for shape in TRAINED_SHAPES}
    natural = {(joined(one.effect), one.shows) for one in MECHANISMS.values()}
    for shape in UNSEEN_SHAPES:
        assert (joined(shape.effect), shape.shows) not in trained | natural


def joined(effect: object) -> frozenset[str]:
    """The effects that make things worse together."""
    found = {"errors": effect.errors > 0, "capacity": effect.capacity < 1}  # type: ignore[attr-defined]
    for name in ("latency", "inflow", "outflow"):
        found[name] = getattr(effect, name) > 1
    return frozenset(name for name, worse in found.items() if worse)


@pytest.mark.parametrize("split", SPLITS)
def test_each_role_sees_its_part_of_the_documents(split: str) -> None:
    public = Env(make_scenario(split=split, tier="hard", seed=3)).world.public
    rules = {role: project(public, role).rules for role in Role}
    assert all(page.signs and page.cause and page.remedy for page in rules[Role.SRE].runbook)
    assert rules[Role.SRE].runbook == rules[Role.DEV].runbook == rules[Role.MANAGER].runbook
    assert 10 <= len(rules[Role.SRE].runbook) <= 12
    for page in rules[Role.OVERSIGHT].runbook:
        assert page.cause
        assert not page.signs
        assert not page.remedy
    assert {clauses.agent for clauses in rules[Role.OVERSIGHT].charter} == set(public.rules.agents)
    for role in (Role.SRE, Role.DEV, Role.MANAGER):
        assert not rules[role].charter


@pytest.mark.parametrize("tier", Tier)
def test_pages_and_letters_stand_in_an_order_of_their_own(tier: Tier) -> None:
    firsts, labels = set(), set()
    for seed in range(20):
        rules = Env(make_scenario(split="test", tier=tier, seed=seed)).world.public.rules
        firsts.add(rules.runbook[0].name)
        labels.add(tuple(order.labels for order in rules.menus.values()))
    assert len(firsts) > 4
    assert len(labels) == 20
