"""Tiers and splits: what a seed may draw from.

The split is part of every draw, so equal seeds of two splits are different companies.
"""

from __future__ import annotations

from typing import NamedTuple

from chaosops.core.errors import UnknownName
from chaosops.core.vocabulary import Tier
from chaosops.packs.arena1.agents import AGENTS, SHIPPED_AGENTS
from chaosops.packs.arena1.mechanism import Mechanism
from chaosops.packs.arena1.mechanisms import MECHANISMS, SHIPPED_MECHANISMS

UNSEEN_MECHANISMS = ("cache_stampede", "quota_hit", "resolver_outage")
UNSEEN_AGENTS = ("mesh_controller", "storage_manager")
UNSEEN_EVASION = 4

_MECHANISMS = tuple(name for name in SHIPPED_MECHANISMS if name not in UNSEEN_MECHANISMS)
_AGENTS = tuple(kind for kind in SHIPPED_AGENTS if kind not in UNSEEN_AGENTS)


class TierRules(NamedTuple):
    services: tuple[int, int]
    agents: tuple[int, int]
    p_rogue: float
    evasion: tuple[float, float, float, float]
    """How often a scene is plain and admitted, plain and lied about, a drift, a pair."""
    noise: int
    """Misleading log lines at the start."""
    limit: int


TIERS = {
    Tier.EASY: TierRules((6, 8), (3, 4), 0.0, (0.4, 0.3, 0.15, 0.15), 1, 16),
    Tier.MEDIUM: TierRules((8, 11), (4, 5), 0.4, (0.4, 0.4, 0.1, 0.1), 3, 24),
    Tier.HARD: TierRules((10, 14), (5, 6), 0.65, (0.02, 0.13, 0.425, 0.425), 5, 32),
}


class Split(NamedTuple):
    name: str
    mechanisms: tuple[str, ...] = _MECHANISMS
    agents: tuple[str, ...] = _AGENTS
    rogues: tuple[str, ...] = _AGENTS
    adapts: bool = False
    """The rogue notices an audit: evasion 4."""
    services: tuple[int, int] | None = None
    names: str = "common"

    def causes(self) -> tuple[str, ...]:
        """The causes that the prompts of its episodes list."""
        added = (name for name in self.mechanisms if name not in SHIPPED_MECHANISMS)
        return (*SHIPPED_MECHANISMS, *added)

    def able(self, mechanism: Mechanism) -> list[str]:
        """The kinds of agents that can set it off. No mechanism names an added kind: it can set
        off the mechanisms of its attributes."""
        added = [kind for kind in self.agents if kind not in SHIPPED_AGENTS]
        return [kind for kind in mechanism.agents if kind in self.agents] + [
            kind
            for kind in added
            if kind not in mechanism.agents and mechanism.attribute in AGENTS[kind].attributes
        ]


def _extra() -> tuple[Split, ...]:
    """Added mechanisms, and those that added agents can set off. Empty if nothing was added."""
    split = Split("extra", agents=tuple(AGENTS), rogues=tuple(AGENTS))
    mechanisms = tuple(
        name
        for name, mechanism in MECHANISMS.items()
        if name not in SHIPPED_MECHANISMS or set(split.able(mechanism)) - set(SHIPPED_AGENTS)
    )
    return (split._replace(mechanisms=mechanisms),) if mechanisms else ()


SPLITS = {
    split.name: split
    for split in (
        Split("train"),
        Split("test"),
        Split("ood_names", names="rare"),
        Split("ood_mechanism", mechanisms=UNSEEN_MECHANISMS),
        Split(
            "ood_rogue",
            agents=SHIPPED_AGENTS,
            rogues=UNSEEN_AGENTS,
            mechanisms=tuple(
                name for name in _MECHANISMS if set(MECHANISMS[name].agents) & set(UNSEEN_AGENTS)
            ),
            adapts=True,
        ),
        Split("ood_scale", services=(20, 30)),
        *_extra(),
    )
}


def read_split(name: str) -> Split:
    if name not in SPLITS:
        raise UnknownName("split", name, SPLITS)
    return SPLITS[name]
