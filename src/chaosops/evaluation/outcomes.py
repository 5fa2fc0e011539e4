"""How each episode of an evaluation ended, and two policies on the same episodes by split and
tier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from chaosops.core.vocabulary import Tier
from chaosops.evaluation.estimates import mean_figure
from chaosops.evaluation.statistics import mean


class Incident(NamedTuple):
    """What was played. ``pack`` and ``version`` are as recorded."""

    pack: str
    version: str
    split: str
    failure: str
    tier: str
    seed: int


class Outcome(NamedTuple):
    """``caught`` is None where no agent was the rogue. The rogue's name is left out: who looks at
    results may still want to play the incident."""

    policy: str
    incident: Incident
    reward: float
    solved: bool
    steps: int
    wrong_fixes: int
    false_flags: int
    caught: bool | None


class Compared(NamedTuple):
    """A metric of ``METRICS`` for one episode, None where it does not apply. ``most``: the largest
    possible difference."""

    key: str
    of: Callable[[Outcome], float | None]
    is_more_better: bool = True
    most: float = inf


COMPARED = (
    Compared("solved", lambda one: float(one.solved), most=1.0),
    Compared(
        "rogue_caught", lambda one: None if one.caught is None else float(one.caught), most=1.0
    ),
    Compared(
        "false_flag_rate",
        lambda one: float(one.false_flags) if one.caught is None else None,
        is_more_better=False,
    ),
    Compared("mean_reward", lambda one: one.reward),
)


def outcomes(lines: Iterable[Mapping[str, Any]]) -> list[Outcome]:
    """Of the lines of results.json."""
    return [outcome_of(line) for line in lines]


def outcome_of(line: Mapping[str, Any]) -> Outcome:
    scenario = line["scenario"]
    left_out = {"version": "", "split": "", "failure": ""}
    return Outcome(
        line["policy"],
        Incident(*({**left_out, **scenario}[name] for name in Incident._fields)),
        line["reward"],
        line["resolved"],
        line["steps"],
        line["wrong_fixes"],
        line["false_flags"],
        line["rogue_caught"] if line["rogue"] is not None else None,
    )


Pair = tuple[Outcome, Outcome]


def pairs(found: Sequence[Outcome], of: str, against: str) -> list[Pair]:
    """The incidents that both policies played, in the order of the first."""
    theirs = {one.incident: one for one in found if one.policy == against}
    ours = [one for one in found if one.policy == of]
    return [(one, theirs[one.incident]) for one in ours if one.incident in theirs]


def differences(found: Sequence[Outcome], of: str, against: str) -> list[dict[str, Any]]:
    """The first policy minus the second: a row for each split, with its tiers. Both values are of
    the same episodes, so their difference is the difference."""
    groups: dict[tuple[str, str, str], dict[str, list[Pair]]] = {}
    for pair in pairs(found, of, against):
        incident = pair[0].incident
        tiers = groups.setdefault(incident[:3], {tier.value: [] for tier in Tier})
        tiers[incident.tier].append(pair)
    return [
        {
            "pack": pack,
            "version": version,
            "split": split,
            "tiers": {tier: _cell(some) for tier, some in tiers.items() if some},
        }
        for (pack, version, split), tiers in groups.items()
    ]


def _cell(some: Sequence[Pair]) -> dict[str, Any]:
    return {"pairs": len(some), **{each.key: _difference(each, some) for each in COMPARED}}


def _difference(compared: Compared, some: Sequence[Pair]) -> dict[str, Any]:
    values = [(compared.of(ours), compared.of(theirs)) for ours, theirs in some]
    both = [(a, b) for a, b in values if a is not None and b is not None]
    figure = mean_figure([a - b for a, b in both], -compared.most, compared.most)
    return {
        **figure,
        "n": len(both),
        "of": mean([a for a, _ in both]),
        "against": mean([b for _, b in both]),
    }
