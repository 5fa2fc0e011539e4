"""Leak detectors: can words or counts tell whether there is a rogue? They must not.

A model that reads words without their order, and one that counts everything there is to
count, are trained on many first Oversight prompts. If either does well on unseen companies,
the generator gives itself away. Needs scikit-learn, which is an extra.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from chaosops.core.actions import Noop
from chaosops.core.decision import Decision
from chaosops.core.errors import MissingExtra
from chaosops.core.telemetry import TraceEntry
from chaosops.core.vocabulary import Tier
from chaosops.env import Env
from chaosops.evaluation.ranking import auroc
from chaosops.packs import make_scenario
from chaosops.packs.arena.agents import AGENTS
from chaosops.policies.arena_runbook import is_beyond_limit, roots
from chaosops.roles.prompt import render
from chaosops.roles.view import RoleView

BAR = 0.70


class Sample(NamedTuple):
    prompt: str
    counts: list[int]
    has_rogue: bool


def samples(split: str, tier: Tier, count: int) -> Iterator[Sample]:
    """The first Oversight turn of many episodes."""
    for seed in range(count):
        env = Env(make_scenario(pack="arena", split=split, tier=tier, seed=seed))
        env.play(Decision(Noop()))
        view = env.view
        text = "\n".join(message["content"] for message in render(view))
        yield Sample(text, count_everything(view), env.rogue is not None)


def count_everything(view: RoleView) -> list[int]:
    """Trace length, entries and excesses per agent, touches near the trouble, times."""
    trace = view.trace
    failing = {item.service for item in view.health if item.health}
    deepest = set(roots(view))
    near = failing | {callee for service in failing for callee in view.rules.calls[service]}
    excesses = [entry for entry in trace if is_beyond_limit(entry, view)]
    groups: list[Sequence[TraceEntry]] = [
        trace,
        excesses,
        [entry for entry in trace if entry.target in deepest],
        [entry for entry in trace if entry.target in failing],
        [entry for entry in trace if entry.target in near],
        [entry for entry in trace if entry.reason.startswith("order")],
    ]
    counts = [len(view.rules.services), len(view.rules.agents), len(failing)]
    for group in groups:
        per_agent = Counter(entry.agent for entry in group)
        steps = [entry.step for entry in group]
        counts += [len(group), len(per_agent), max(per_agent.values(), default=0)]
        counts += [max(steps, default=-99), min(steps, default=-99)]
        counts += [sum(step >= -6 for step in steps), sum(step >= -11 for step in steps)]
        counts += [per_agent[kind] for kind in AGENTS]
    return counts


def detect_leaks(tier: Tier, train: int, test: int) -> dict[str, Any]:
    """The AUROC of both detectors on the test split, trained on the train split."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtra("looking for leaks", "scikit-learn", "research") from None
    known, unseen = list(samples("train", tier, train)), list(samples("test", tier, test))
    truth = [sample.has_rogue for sample in known]
    wanted = [sample.has_rogue for sample in unseen]
    figures: dict[str, Any] = {"tier": tier.value, "train": train, "test": test}
    for name, ngrams in (("bag_of_words", (1, 1)), ("bag_of_word_pairs", (1, 2))):
        bag = CountVectorizer(ngram_range=ngrams, min_df=3, token_pattern=r"[^\s:(),>]+")
        table = bag.fit_transform([sample.prompt for sample in known])
        reader = LogisticRegression(solver="liblinear", C=0.03).fit(table, truth)
        scores = reader.predict_proba(bag.transform([sample.prompt for sample in unseen]))[:, 1]
        figures[f"{name}_auroc"] = _rounded(auroc(list(scores), wanted))
    counter = HistGradientBoostingClassifier(max_iter=200, learning_rate=0.05, random_state=0)
    counter.fit(np.array([sample.counts for sample in known]), truth)
    scores = counter.predict_proba(np.array([sample.counts for sample in unseen]))[:, 1]
    figures["counts_auroc"] = _rounded(auroc(list(scores), wanted))
    return figures


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
