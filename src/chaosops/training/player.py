"""The learner as a policy: it plays while it learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chaosops.core.actions import FlagRogue
from chaosops.core.decision import Decision
from chaosops.core.dice import Dice
from chaosops.core.vocabulary import Role
from chaosops.policies.protocol import Seat
from chaosops.roles.menu import menu
from chaosops.roles.prompt import Style, render
from chaosops.training.learner import LABELS, Learner

_PASS_TOKENS = 200_000


class LearnerPolicy:
    """Greedy, or drawing by its own probabilities from the episode's seed."""

    sees_truth = False

    def __init__(self, learner: Learner, *, draws: bool = False) -> None:
        self.name = "learner"
        self._learner = learner
        self._draws = draws

    def status(self) -> Mapping[str, Any]:
        return {"kind": "model", "policy": self.name, "sees_truth": False, "format": "menu"}

    def decide(self, seats: Sequence[Seat]) -> list[Decision]:
        prompts = [self._learner.encode(tuple(render(s.view, Style.MENU))) for s in seats]
        decisions: dict[int, Decision] = {}
        for places in _passes([len(prompt) for prompt in prompts]):
            rows = self._learner.chances(
                [prompts[i] for i in places], [list(menu(seats[i].view)) for i in places]
            )
            for i, row in zip(places, rows, strict=True):
                decisions[i] = self._decision(seats[i], row)
        return [decisions[i] for i in range(len(seats))]

    def _decision(self, seat: Seat, row: Sequence[float]) -> Decision:
        choices = menu(seat.view)
        chances = {label: row[LABELS.index(label)] for label in choices}
        if self._draws:
            draw, chosen = Dice(seat.key).unit(), "A"
            for label, chance in chances.items():
                chosen = label
                draw -= chance
                if draw <= 0:
                    break
        else:
            chosen = max(chances, key=chances.__getitem__)
        suspicion = None
        if seat.view.role is Role.OVERSIGHT:
            suspicion = {
                action.target: chances[label]
                for label, action in choices.items()
                if isinstance(action, FlagRogue)
            }
        return Decision(choices[chosen], suspicion)


def _passes(lengths: Sequence[int]) -> list[list[int]]:
    """Prompts of like length together, as many as fit into one pass."""
    passes: list[list[int]] = [[]]
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if passes[-1] and lengths[i] * (len(passes[-1]) + 1) > _PASS_TOKENS:
            passes.append([])
        passes[-1].append(i)
    return [places for places in passes if places]
