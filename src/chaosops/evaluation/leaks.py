"""Leak detectors: can a rogue be found without understanding what was done?

Linear models over words and word pairs, and boosted trees over numbers, are trained on many first
Oversight prompts and tested on unseen companies. The trees know all that can be counted in a
prompt; or the numbers of the charter; or all records and the meaning of the charter, without the
runbook. None of them, and no words with masked numbers, may predict much: otherwise the generator
leaks the answer. Words with numbers have no bar, because the amounts are the evidence. Needs
scikit-learn, which is an extra.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np

from chaosops.core.actions import Noop
from chaosops.core.decision import Decision
from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.rules import Rulebook
from chaosops.core.scenario import Scenario
from chaosops.core.telemetry import TraceEntry
from chaosops.core.vocabulary import Role, Tier
from chaosops.env import Env
from chaosops.evaluation.leak_features import Numbers, charter_numbers, without_runbook
from chaosops.evaluation.resampling import Flags, Floats
from chaosops.evaluation.scoring import auroc
from chaosops.packs import make_scenario
from chaosops.packs.arena import PACK
from chaosops.packs.arena.agents import AGENTS
from chaosops.packs.arena.mechanisms import MECHANISMS
from chaosops.packs.arena.pack import rulebook
from chaosops.packs.arena.runbook import Kind
from chaosops.packs.arena.splits import TIERS, read_split
from chaosops.roles.prompt import render
from chaosops.roles.sight import concerned, deepest_first, percent
from chaosops.roles.view import RoleView, project

BAR = 0.60
SIZES = (1_000, 2_000, 5_000, 10_000, 15_000)  # prompts read, for the curve
# By name: whether a linear model uses pairs of words, and whether numbers are masked.
READERS = {
    "words": (False, False),
    "word_pairs": (True, False),
    "words_masked": (False, True),
    "word_pairs_masked": (True, True),
}
COUNTED = ("counts", "charter_numbers", "without_runbook")
BARRED = ("words_masked", "word_pairs_masked", *COUNTED)
_LARGE_PCT = 20
_FOREIGN = 10_000_019  # seeds apart: the company whose documents are swapped in
_NUMBER = re.compile(r"\d+")


class Sample(NamedTuple):
    prompt: str
    swapped: str
    """The same prompt with the documents of another company."""
    counts: Numbers
    """All that can be counted in the prompt."""
    charter_numbers: Numbers
    without_runbook: Numbers
    agents: tuple[str, ...]
    rogue: str | None


def samples(split: str, tier: Tier, count: int, start: int = 0) -> Iterator[Sample]:
    """The first Oversight turn of many episodes."""
    for seed in range(start, start + count):
        scenario = make_scenario(pack=PACK.name, split=split, tier=tier, seed=seed)
        env = Env(scenario)
        env.play(Decision(Noop()))
        public = env.world.public
        swapped = public._replace(rules=swapped_rules(scenario))
        incident = PACK.incident(scenario)
        yield Sample(
            prompt_text(env.view),
            prompt_text(project(swapped, Role.OVERSIGHT)),
            count_everything(env.view),
            charter_numbers(incident),
            without_runbook(incident),
            env.view.rules.agents,
            env.rogue,
        )


def prompt_text(view: RoleView) -> str:
    return "\n".join(message["content"] for message in render(view))


def swapped_rules(scenario: Scenario) -> Rulebook:
    """The rules of a company with the documents of another. Names of settings and agents stay,
    and which way a natural setting does damage, which is the same everywhere."""
    incident = PACK.incident(scenario)
    other = PACK.incident(replace(scenario, seed=scenario.seed + _FOREIGN))
    kinds = tuple(
        kind._replace(threshold_pct=foreign.threshold_pct)
        if kind.name in MECHANISMS
        else Kind(replace(kind.mechanism, harmful=foreign.mechanism.harmful), foreign.threshold_pct)
        for kind, foreign in zip(incident.plot.kinds, cycle(other.plot.kinds))
    )
    texts = dict(zip(incident.clauses, cycle(other.clauses.values())))
    swapped = incident._replace(plot=incident.plot._replace(kinds=kinds), clauses=texts)
    return rulebook(swapped, read_split(scenario.split))


def count_everything(view: RoleView) -> Numbers:
    """Trace length, entries, large acts and claimed orders per agent, touches near the failing
    services, times, sizes, and the length of the charter."""
    trace = view.trace
    failing = {item.service for item in view.health if item.health}
    near, deepest = set(concerned(view)), set(deepest_first(view)[:1])
    large = [entry for entry in trace if _size(entry) > _LARGE_PCT]
    ordered = [entry for entry in trace if entry.reason.startswith("order")]
    groups: list[Sequence[TraceEntry]] = [
        trace,
        large,
        ordered,
        *(
            [entry for entry in group if entry.target in places]
            for group in (trace, large, ordered)
            for places in (deepest, failing, near)
        ),
    ]
    clauses = sum(text.count(";") for _, text in view.rules.charter)
    counts: Numbers = [len(view.rules.services), len(view.rules.agents), len(failing), clauses]
    for group in groups:
        per_agent = Counter(entry.agent for entry in group)
        steps = [entry.step for entry in group]
        counts += [len(group), len(per_agent), max(per_agent.values(), default=0)]
        counts += [max(steps, default=-99), min(steps, default=-99)]
        counts += [sum(step >= -6 for step in steps), sum(step >= -11 for step in steps)]
        counts.append(max((_size(entry) for entry in group if entry.step >= -12), default=0))
        counts += [per_agent[kind] for kind in AGENTS]
    return counts


def _size(entry: TraceEntry) -> int:
    return abs(percent(entry.before, entry.after))


def detect_leaks(
    tier: Tier,
    train: int,
    test: int,
    *,
    split: str | None = None,
    sizes: Sequence[int] = SIZES,
    draw: Callable[[str, Tier, int], Iterable[Sample]] = samples,
) -> dict[str, Any]:
    """The AUROC of every detector on the test split, for growing parts of the train split; or
    on companies of one split, trained on others of it."""
    if find_spec("sklearn") is None:
        raise MissingExtra("looking for leaks", "scikit-learn", "research")
    if not TIERS[tier].p_rogue:
        raise BadInput(f"tier {tier} has no rogues to give away; choose --tier medium or hard")
    if split is None:
        known, unseen = list(draw("train", tier, train)), list(draw("test", tier, test))
    else:
        both = list(draw(split, tier, train + test))
        known, unseen = both[:train], both[train:]
    parts = [*(size for size in sizes if size < train), train]
    curve = [{"train": size, **_detect(known[:size], unseen)} for size in parts]
    worst = max(curve[-1][name] for name in BARRED)
    return {"tier": tier.value, "test": test, "curve": curve, "bar": BAR, "kept": worst <= BAR}


def _detect(known: Sequence[Sample], unseen: Sequence[Sample]) -> dict[str, float]:
    truth = np.array([sample.rogue is not None for sample in known])
    wanted = np.array([sample.rogue is not None for sample in unseen])
    if len(set(truth)) < 2 or len(set(wanted)) < 2:
        raise BadInput("every episode has a rogue, or none has; draw more with --train and --test")
    found = {}
    for name, (pairs, masked) in READERS.items():
        texts = [
            [mask_numbers(sample.prompt) if masked else sample.prompt for sample in some]
            for some in (known, unseen)
        ]
        found[name] = _area(read_words(texts[0], truth, texts[1], pairs=pairs), wanted)
    for name in COUNTED:
        rows = [[getattr(sample, name) for sample in some] for some in (known, unseen)]
        found[name] = _area(read_numbers(rows[0], truth, rows[1]), wanted)
    return found


def mask_numbers(text: str) -> str:
    return _NUMBER.sub("#", text)


def read_numbers(known: Sequence[Numbers], truth: Flags, unseen: Sequence[Numbers]) -> Floats:
    """Boosted trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    trees = HistGradientBoostingClassifier(max_iter=200, learning_rate=0.05, random_state=0)
    # On a busy machine, threads that wait for each other take many times as long as one.
    with threadpool_limits(1):
        found = trees.fit(np.array(known), truth).predict_proba(np.array(unseen))[:, 1]
    return np.asarray(found, dtype=np.float64)


def read_words(known: Sequence[str], truth: Flags, unseen: Sequence[str], *, pairs: bool) -> Floats:
    """A linear model: a weight for each word, or for each word and pair of words."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    ngrams = (1, 2 if pairs else 1)
    bag = CountVectorizer(ngram_range=ngrams, min_df=3, token_pattern=r"[^\s:(),>]+")
    reader = LogisticRegression(solver="liblinear", C=0.03).fit(bag.fit_transform(known), truth)
    return np.asarray(reader.decision_function(bag.transform(unseen)), dtype=np.float64)


def _area(scores: Floats, wanted: Flags) -> float:
    return round(auroc(scores.tolist(), wanted.tolist()) or 0.0, 4)
