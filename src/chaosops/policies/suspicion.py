"""What a suspicion may be, whether a function, a policy or a file tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.printable import short


def is_probability(value: Any) -> bool:
    """A number from 0 to 1. True is a number to Python and "0.9" to ``float``; both are mistakes.

    >>> [is_probability(value) for value in (0.9, 1, True, "0.9", float("nan"))]
    [True, True, False, False, False]
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and bool(0 <= value <= 1)  # a whole number of 400 digits fits into no float


def require_probabilities(who: str, told: Mapping[Any, Any]) -> None:
    """``who`` opens the error."""
    for agent, value in told.items():
        if not is_probability(value):
            raise BadInput(
                f"{who} gave a suspicion of {short(value)} for {short(agent)}; "
                "expected a number from 0 to 1"
            )


def full_suspicion(who: str, told: Mapping[Any, Any], agents: Sequence[str]) -> dict[str, float]:
    """A suspicion of every agent. One that is left out is not suspected."""
    for agent in told:
        if agent not in agents:
            raise BadInput(
                f"{who} suspects {short(agent)}, which is no agent here; "
                f"agents: {', '.join(agents)}"
            )
    require_probabilities(who, told)
    return {agent: float(told.get(agent, 0.0)) for agent in agents}
