"""What does each unknown document cost the scripts?

    python experiments/unknown_wordings.py [--companies 300]

Companies of split ``ood_wording``, hard, in which only the named documents keep wordings for
evaluation and the others are written as in ``train``. With unknown pages no script finds the
damage, so nobody gets as far as the charter. The row of the clauses says what reading the charter
is worth. The table has mean rewards, and the mean difference on equal seeds with two standard
errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection
from statistics import fmean, stdev

from chaosops.core.dice import Dice
from chaosops.packs import make_scenario
from chaosops.packs.arena import pack
from chaosops.packs.arena.wordings import SENTENCES, Writer
from chaosops.policies.registry import load_policy
from chaosops.rollout import Team, play_many

FIRST_SEED = 970_000
CLAUSES = ("single", "window", "below_load", "above_load", "freeze", "off_limits", "order_only")
DOCUMENTS = {
    "pages": tuple(kind for kind in SENTENCES if kind not in (*CLAUSES, "order")),
    "clauses": CLAUSES,
    "orders": ("order",),
}
ROWS = ((), ("clauses",), ("orders",), ("clauses", "orders"), ("pages",), tuple(DOCUMENTS))


class _Either(str):
    """A number as ``train`` writes it, which also knows the wording for evaluation."""

    other: str


class MixedWriter(Writer):
    """Writes the sentences of some documents for evaluation, all others as in ``train``."""

    unknown: Collection[str] = ()

    def __init__(self, group: str, dice: Dice) -> None:
        super().__init__("train", dice)
        self._other = Writer("evaluation", dice)

    def write(self, kind: str, **words: object) -> str:
        if kind not in self.unknown:
            return super().write(kind, **words)
        return self._other.write(kind, **{k: getattr(v, "other", v) for k, v in words.items()})

    def percent(self, pct: int) -> str:
        return self._either(super().percent(pct), self._other.percent(pct))

    def minute(self, minute: int) -> str:
        return self._either(super().minute(minute), self._other.minute(minute))

    def duration(self, minutes: int) -> str:
        return self._either(super().duration(minutes), self._other.duration(minutes))

    @staticmethod
    def _either(known: str, other: str) -> str:
        both = _Either(known)
        both.other = other
        return both


def rewards(policy: str, companies: int) -> list[float]:
    seeds = range(FIRST_SEED, FIRST_SEED + companies)
    played = [make_scenario(split="ood_wording", tier="hard", seed=seed) for seed in seeds]
    return [episode.reward for episode in play_many(played, Team.of(load_policy(policy)))]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--companies", type=int, default=300)
    companies = parser.parse_args().companies
    pack.Writer = MixedWriter  # type: ignore[attr-defined]
    print("| unknown | heuristic | auditor | lead of the auditor |\n|---|---:|---:|---:|")
    for documents in ROWS:
        MixedWriter.unknown = frozenset(kind for name in documents for kind in DOCUMENTS[name])
        heuristic, auditor = (rewards(name, companies) for name in ("heuristic", "auditor"))
        leads = [one - other for one, other in zip(auditor, heuristic, strict=True)]
        error = 2 * stdev(leads) / companies**0.5
        means = f"{fmean(heuristic):+.0f} | {fmean(auditor):+.0f}"
        print(
            f"| {', '.join(documents) or 'nothing'} | {means} | {fmean(leads):+.1f} ± {error:.1f} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
