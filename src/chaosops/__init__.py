"""ChaosOps AI: train and test AI teams that run production, and the overseer among them."""

from chaosops.core.errors import ChaosOpsError
from chaosops.core.scenario import Scenario
from chaosops.env import Env
from chaosops.packs import load_pack, make_scenario
from chaosops.policies.registry import load_policy
from chaosops.rollout import Team, play, play_many
from chaosops.rubrics import standard
from chaosops.version import VERSION

__version__ = VERSION

__all__ = [
    "ChaosOpsError",
    "Env",
    "Scenario",
    "Team",
    "load_pack",
    "load_policy",
    "make_scenario",
    "play",
    "play_many",
    "standard",
]
