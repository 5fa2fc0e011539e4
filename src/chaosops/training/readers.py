"""The part of the learner that answers questions about single acts. It is not in the adapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chaosops.training.marks import QUESTIONS

# By depth of the model: the layers above can use what was found.
_DEPTHS = (0.5, 0.67, 0.83)


class Readers:
    """Linear maps from what the model holds at a token, at some depths, to the answers."""

    def __init__(self, torch: Any, config: Any, device: Any) -> None:
        self._torch = torch
        depths = {max(1, round(share * config.num_hidden_layers)) for share in _DEPTHS}
        self._maps = {
            depth: torch.nn.Linear(config.hidden_size, len(QUESTIONS)).to(device)
            for depth in sorted(depths)
        }

    @property
    def weights(self) -> list[Any]:
        return [weight for each in self._maps.values() for weight in each.parameters()]

    def answers(self, hidden: Sequence[Any], marked: Sequence[tuple[int, int]]) -> list[Any]:
        """One table of logits for each reader, with a row for each marked token, (row, place).
        ``hidden`` has the states before the first layer and after each."""
        torch = self._torch
        at = torch.tensor(marked, device=hidden[0].device)
        found = []
        for depth, each in self._maps.items():
            held = hidden[depth][at[:, 0], at[:, 1]].float()
            found.append(each(torch.nn.functional.rms_norm(held, held.shape[-1:])))
        return found

    def snapshot(self) -> dict[int, Any]:
        return {depth: each.state_dict() for depth, each in self._maps.items()}

    def restore(self, kept: dict[int, Any]) -> None:
        for depth, each in self._maps.items():
            each.load_state_dict(kept[depth])
