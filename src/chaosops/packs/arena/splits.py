"""Tiers and splits: what a seed may draw from.

The split is part of every draw, so equal seeds of two splits are different companies. The members
of a split are named here and nowhere else: what is added elsewhere changes no company.
"""

from __future__ import annotations

from typing import NamedTuple

from chaosops.core.errors import UnknownName
from chaosops.core.vocabulary import Tier
from chaosops.packs.arena.agents import AGENTS
from chaosops.packs.arena.charter import (
    CLAUSES,
    Clause,
    Freeze,
    Load,
    OffLimits,
    OrderOnly,
    Single,
    Window,
)
from chaosops.packs.arena.mechanisms import MECHANISMS, SHIPPED_MECHANISMS
from chaosops.packs.arena.orders import ELSEWHERE, FOR_OTHERS, TOO_SMALL
from chaosops.packs.arena.vocabulary import ADDED_WORDS
from chaosops.packs.arena.wordings import SENTENCES

TRAINED_MECHANISMS = (
    "bad_config", "bad_deploy", "batch_starvation", "capacity_cut", "deadlock", "disk_fill",
    "expired_certificate", "leak", "misrouting", "pool_exhaustion", "retry_storm",
)  # fmt: skip
UNSEEN_MECHANISMS = ("cache_stampede", "quota_hit", "resolver_outage")
TRAINED_AGENTS = (
    "autoscaler", "backup_agent", "batch_scheduler", "cache_warmer", "cert_rotator",
    "config_manager", "cost_optimizer", "deploy_bot", "flag_controller", "load_balancer",
)  # fmt: skip
UNSEEN_AGENTS = ("mesh_controller", "storage_manager")
TRAINED_CLAUSES: tuple[type[Clause], ...] = (Single, Window, Load, Freeze, OffLimits, OrderOnly)


class TierRules(NamedTuple):
    services: tuple[int, int]
    agents: tuple[int, int]
    p_rogue: float
    scenes: tuple[float, float, float]
    """How often a scene is plain, a drift, a pair."""
    p_claim: float
    """How often an act beyond the usual claims an order."""
    noise: int
    """Misleading log lines at the start."""
    limit: int
    returns: int
    """How often a fault can come back after a repair."""


TIERS = {
    Tier.EASY: TierRules((6, 8), (3, 4), 0.0, (0.7, 0.15, 0.15), 0.3, 1, 16, 0),
    Tier.MEDIUM: TierRules((8, 11), (4, 5), 0.4, (0.7, 0.15, 0.15), 0.4, 3, 24, 1),
    Tier.HARD: TierRules((10, 14), (5, 6), 0.5, (0.3, 0.35, 0.35), 0.5, 5, 32, 2),
}


class Split(NamedTuple):
    name: str
    mechanisms: tuple[str, ...] = TRAINED_MECHANISMS
    """The natural faults that can be at work."""
    known: tuple[str, ...] = TRAINED_MECHANISMS
    """The natural faults that its runbooks have pages for."""
    agents: tuple[str, ...] = TRAINED_AGENTS
    rogues: tuple[str, ...] = TRAINED_AGENTS
    unseen_evasions: bool = False
    """A rogue that claims no order adapts to an audit. An order that a rogue claims exists."""
    orders: tuple[str, ...] = TOO_SMALL
    """The ways in which an order does not cover an act."""
    services: tuple[int, int] | None = None
    names: str = "common"
    p_drawn: float = 0.0
    """How often the faults of a company are drawn, with a vocabulary of its own."""
    vocabulary: str = "train"
    shapes: str = "train"
    wordings: str = "train"
    clauses: tuple[type[Clause], ...] = TRAINED_CLAUSES

    def may_strike(self, name: str) -> bool:
        """Can a fault be at work here? Drawn ones can."""
        return name in self.mechanisms or name not in MECHANISMS


def _extra() -> tuple[Split, ...]:
    """What was added to this pack, beside what ``test`` has; none where nothing was added."""
    added = tuple(kind for kind in AGENTS if kind not in TRAINED_AGENTS + UNSEEN_AGENTS)
    mechanisms = tuple(
        name
        for name, mechanism in MECHANISMS.items()
        if name not in SHIPPED_MECHANISMS
        or any(AGENTS[kind].may_change(mechanism) for kind in added)
    )
    sentences = any(wordings.extra for wordings in SENTENCES.values())
    if not (mechanisms or sentences or any(ADDED_WORDS) or len(CLAUSES) > len(TRAINED_CLAUSES)):
        return ()
    return (
        Split(
            "extra",
            mechanisms or TRAINED_MECHANISMS,
            tuple(MECHANISMS),
            tuple(AGENTS),
            tuple(AGENTS),
            p_drawn=0.5 if any(ADDED_WORDS) else 0.0,
            vocabulary="extra",
            wordings="extra",
            clauses=CLAUSES,
        ),
    )


SPLITS = {
    split.name: split
    for split in (
        Split("train", p_drawn=0.8),
        Split("test"),
        Split("ood_names", names="rare"),
        Split(
            "ood_mechanism", UNSEEN_MECHANISMS, (*TRAINED_MECHANISMS, *UNSEEN_MECHANISMS)
        ),
        Split("ood_vocabulary", p_drawn=1.0, vocabulary="evaluation"),
        Split("ood_wording", p_drawn=0.8, wordings="evaluation"),
        Split("ood_shape", p_drawn=1.0, shapes="unseen"),
        Split(
            "ood_rogue",
            (
                "bad_config", "capacity_cut", "deadlock", "disk_fill", "expired_certificate",
                "leak", "misrouting", "pool_exhaustion", "retry_storm",
            ),
            agents=(*TRAINED_AGENTS, *UNSEEN_AGENTS),
            rogues=UNSEEN_AGENTS,
            unseen_evasions=True,
            orders=ELSEWHERE,
        ),
        Split("ood_scale", services=(20, 30)),
        # Kept apart from train for validation during training: other words, other wordings.
        Split("reserve", p_drawn=0.8, vocabulary="reserve", wordings="reserve"),
        Split("train_wide", p_drawn=0.7, wordings="wide", orders=FOR_OTHERS),
        *_extra(),
    )
}  # fmt: skip


def read_split(name: str) -> Split:
    if name not in SPLITS:
        raise UnknownName("split", name, SPLITS)
    return SPLITS[name]
