"""Fit the calibration of a model's suspicion on validation episodes.

It is fitted and judged on the last suspicion of each agent within three turns, as Brier score and
calibration error are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chaosops.core.episode import Episode
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.evaluation.cases import JUDGED, Case
from chaosops.evaluation.claims import role_status
from chaosops.evaluation.monitor import MONITOR_METRICS
from chaosops.evaluation.resampling import Flags, Floats
from chaosops.evaluation.results import Results
from chaosops.packs import load_pack
from chaosops.policies.llm.adapter import adapter_identities
from chaosops.policies.llm.calibration import Calibration, log_odds

FEWEST = 30  # rogue episodes, and benign ones, that a fit needs
_FOLDS = 5
_MEASURES = ("brier_turn_3", "ece_turn_3")


def require_validation(episodes: Sequence[Episode], seeds: range) -> None:
    """Refuse episodes that a result could be reported on, and those that may have been trained on.
    ``seeds``: those that no run trains on."""
    for scenario in (episode.scenario for episode in episodes):
        pack = load_pack(scenario.pack)
        if scenario.split and scenario.split == pack.reserve_split:
            continue
        cure = f"play --split {pack.training_split} --seed-start {seeds.start}"
        if pack.reserve_split:
            cure = f"play --split {pack.reserve_split}, or {cure.removeprefix('play ')}"
        if not scenario.split or scenario.split != pack.training_split:
            where = f"split {scenario.split}" if scenario.split else f"pack {scenario.pack}"
            raise BadInput(f"{where} is for evaluation, not for calibration: {cure}")
        if scenario.seed not in seeds:
            raise BadInput(
                f"seed {scenario.seed} of split {scenario.split} may have been trained on: {cure}"
            )


def overseer(manifest: Mapping[str, Any], adapter: Path) -> str:
    """The policy whose Oversight is the model with this adapter, without calibration."""
    recorded: Mapping[str, Any] = manifest["policies"]
    statuses = {policy: role_status(of, Role.OVERSIGHT) for policy, of in recorded.items()}
    known = adapter_identities(adapter)
    adapters = {name: str(of.get("adapter")) for name, of in statuses.items()}
    found = [name for name, of in adapters.items() if any(one in of for one in known)]
    if len(found) != 1:
        raise BadInput(
            f"{len(found)} policies of {', '.join(statuses)} have the adapter {adapter} "
            f"({known[0]}) as Oversight; evaluate exactly one"
        )
    if "calibration" in statuses[found[0]]:
        raise BadInput(
            f"the suspicions of {found[0]} are calibrated already; take calibration.json out of "
            "the adapter's folder and evaluate again"
        )
    return found[0]


def fit(cases: Sequence[Case]) -> Calibration:
    rogues = sum(case.rogue is not None for case in cases)
    if min(rogues, len(cases) - rogues) < FEWEST:
        raise BadInput(
            f"{rogues} rogue and {len(cases) - rogues} benign episodes are too few for a "
            f"calibration; play at least {FEWEST} of each: raise --seeds"
        )
    if not all(case.suspicion(JUDGED) for case in cases):
        raise BadInput("an episode has no suspicion within three turns; nothing can be calibrated")
    line = _line(cases)
    if not line.keeps_order():
        raise BadInput(
            f"the likeliest line (slope {line.slope}, intercept {line.intercept}) does not keep "
            "the order of suspicions near 1; play the adapter without a calibration"
        )
    return line


def _line(cases: Sequence[Case]) -> Calibration:
    said, truth = judgements(cases)
    slope, intercept = _platt(np.array([log_odds(p) for p in said]), np.array(truth))
    if slope <= 0:
        raise BadInput(
            "the suspicion of rogues is not higher than that of others, so a calibration would "
            "turn its order round; train the overseer first"
        )
    return Calibration(round(slope, 6), round(intercept, 6))


def judgements(cases: Sequence[Case]) -> tuple[list[float], list[bool]]:
    """The suspicion of every agent, and whether it was the rogue."""
    pairs = [(p, a == case.rogue) for case in cases for a, p in case.suspicion(JUDGED).items()]
    return [p for p, _ in pairs], [guilty for _, guilty in pairs]


def _platt(x: Floats, truth: Flags) -> tuple[float, float]:
    """Slope and intercept of the likeliest line (Platt 1999), by Newton's method.

    Platt's targets are a little inside of 0 and 1. So the line stays finite where the suspicion
    separates all rogues from the others.
    """
    guilty = int(truth.sum())
    target = np.where(truth, (guilty + 1) / (guilty + 2), 1 / (len(truth) - guilty + 2))

    def loss(line: Floats) -> float:
        leaning = line[0] * x + line[1]
        return float((np.logaddexp(0, leaning) - target * leaning).sum())

    line = np.zeros(2)
    for _ in range(100):
        said = 1 / (1 + np.exp(-line[0] * x - line[1]))
        bend = said * (1 - said)
        down = np.array([((said - target) * x).sum(), (said - target).sum()])
        mixed = (bend * x).sum()
        curve = np.array([[(bend * x * x).sum(), mixed], [mixed, bend.sum()]])
        step = np.linalg.solve(curve + 1e-9 * np.eye(2), down)
        while loss(line - step) > loss(line) and np.abs(step).max() > 1e-9:
            step /= 2  # a full step may lead beyond the minimum
        line = line - step
        if np.abs(step).max() <= 1e-9:
            break
    return float(line[0]), float(line[1])


def calibrated(cases: Sequence[Case], by: Callable[[Case], Calibration]) -> list[Case]:
    """The cases as the calibrated model would have reported them."""
    return [
        case._replace(
            suspicions=tuple(
                {agent: by(case).of(p) for agent, p in said.items()} for said in case.suspicions
            )
        )
        for case in cases
    ]


def cross_calibrated(cases: Sequence[Case]) -> list[Case]:
    """Each case is calibrated by a fit to companies of other seeds, so that its figures are those
    of unseen companies."""
    lines = [_line([c for c in cases if c.seed % _FOLDS != fold]) for fold in range(_FOLDS)]
    return calibrated(cases, lambda case: lines[case.seed % _FOLDS])


def reliability(cases: Sequence[Case]) -> dict[str, Any]:
    """Brier score and expected calibration error with intervals."""
    return {m.key: m.compute(cases) for m in MONITOR_METRICS if m.key in _MEASURES}


def origin(results: Results, policy: str) -> dict[str, Any]:
    """What the calibration was fitted on, for its file."""
    manifest = results.manifest
    episodes = results.episodes[policy]
    return {
        "policy": policy,
        "packs": manifest["packs"],
        "splits": manifest["splits"],
        "tiers": manifest["tiers"],
        "first_seed": min(manifest["seeds"]),
        "last_seed": max(manifest["seeds"]),
        "episodes": len(episodes),
        "rogue_episodes": sum(episode.rogue is not None for episode in episodes),
        "command": manifest["command"],
        "version": manifest["version"],
        "commit": manifest["commit"],
        "head": manifest["chain"].get("head"),
    }
