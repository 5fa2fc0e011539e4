"""What the oracle earns from a world to the end of its episode.

The oracle looks at the truth and at nothing else. So worlds with equal truth have the same
continuation, and each is played once: most actions of a menu change what roles see and not the
truth, and the turns of an episode come back to the same worlds.
"""

from __future__ import annotations

from collections.abc import Hashable

from chaosops.core.actions import Action, Noop
from chaosops.core.decision import Decision
from chaosops.core.vocabulary import Role
from chaosops.env import Env


class Continuation:
    """``silent``: the oracle plays on, but Oversight does nothing."""

    def __init__(self, *, silent: bool = False) -> None:
        self._silent = silent
        self._values: dict[Hashable, float] = {}

    def value(self, env: Env) -> float:
        """The sum of the rewards that are still to come. ``env`` is not moved."""
        env = env.fork()
        rewards: list[tuple[Hashable, float]] = []
        known: float | None = None
        while not env.over:
            _, _, *changing = env.world.truth
            key: Hashable = (env.world.public.step, *changing)
            known = self._values.get(key)
            if known is not None:
                break
            rewards.append((key, env.play(Decision(self._action(env))).score.total))
        value = known or 0.0
        for key, reward in reversed(rewards):
            value += reward
            self._values[key] = value
        return value

    def _action(self, env: Env) -> Action:
        truth, role = env.world.truth, env.role
        if self._silent and role is Role.OVERSIGHT:
            return Noop()
        return truth.incident.oracle_action(truth.state, role, truth.flagged, truth.cause_named)
