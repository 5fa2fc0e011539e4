"""The adapter that ships: its weights, card, training record and evaluations, as data."""

from __future__ import annotations

import os
from pathlib import Path

BASE = "smollm2"
FORMAT = "menu"
EVALUATIONS = Path(__file__).parent / "evaluations"
TRAINING = Path(__file__).parent / "training"


def trained_adapter() -> Path:
    """The folder of the adapter. ``CHAOSOPS_TRAINED`` names another one."""
    if other := os.environ.get("CHAOSOPS_TRAINED"):
        return Path(os.path.expanduser(other))
    return Path(__file__).parent / "adapter"
