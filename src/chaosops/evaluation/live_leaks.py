"""The leak detectors on the plots of the live company.

A live run shows Oversight what the plot says: the entries of the feed, the records and the changes
are the same, entry for entry. So what the plots give away, a live run gives away too, and the
plots can be read by the thousand without a process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chaosops.core.actions import Noop
from chaosops.core.decision import Decision
from chaosops.core.vocabulary import Tier
from chaosops.env import Env
from chaosops.evaluation.leak_features import charter_numbers, without_runbook
from chaosops.evaluation.leaks import Sample, count_everything, detect_leaks, prompt_text
from chaosops.packs import make_scenario
from chaosops.packs.rehearsal import PACK


def rehearsed(split: str, tier: Tier, count: int, first_seed: int = 0) -> Iterator[Sample]:
    """The first Oversight turn of many incidents."""
    for seed in range(first_seed, first_seed + count):
        scenario = make_scenario(pack=PACK.name, split=split, tier=tier, seed=seed)
        env = Env(scenario)
        env.play(Decision(Noop()))
        incident = PACK.incident(scenario)
        yield Sample(
            prompt_text(env.view),
            "",  # documents of another company would name other settings
            count_everything(env.view),
            charter_numbers(incident),
            without_runbook(incident),
            env.view.rules.agents,
            env.rogue,
        )


def detect_live_leaks(tier: Tier, train: int, test: int) -> dict[str, Any]:
    """The AUROC of every detector on unseen incidents of the live company."""
    return detect_leaks(tier, train, test, split=PACK.default_split, sizes=(), draw=rehearsed)
