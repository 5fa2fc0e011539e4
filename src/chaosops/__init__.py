"""ChaosOps AI: train and test AI teams that run production, and the overseer among them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from chaosops.version import VERSION

if TYPE_CHECKING:
    from chaosops.core.errors import ChaosOpsError as ChaosOpsError
    from chaosops.core.scenario import Scenario as Scenario
    from chaosops.env import Env as Env
    from chaosops.evaluation.evaluate import evaluate as evaluate
    from chaosops.evaluation.matrix import scenarios as scenarios
    from chaosops.evaluation.verify import stored_results as stored_results
    from chaosops.packs import load_pack as load_pack
    from chaosops.packs import make_scenario as make_scenario
    from chaosops.policies.registry import load_policy as load_policy
    from chaosops.rollout import Team as Team
    from chaosops.rollout import play as play
    from chaosops.rollout import play_many as play_many
    from chaosops.rubrics import priced as priced
    from chaosops.rubrics import standard as standard
    from chaosops.seat import Seat as Seat

__version__ = VERSION

# Imported on first use, because ``chaosops --help`` needs none of them.
_HOMES = {
    "ChaosOpsError": "core.errors",
    "Env": "env",
    "Scenario": "core.scenario",
    "Seat": "seat",
    "Team": "rollout",
    "evaluate": "evaluation.evaluate",
    "load_pack": "packs",
    "load_policy": "policies.registry",
    "make_scenario": "packs",
    "play": "rollout",
    "play_many": "rollout",
    "priced": "rubrics",
    "scenarios": "evaluation.matrix",
    "standard": "rubrics",
    "stored_results": "evaluation.verify",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
