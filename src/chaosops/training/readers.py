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
        self._held: dict[int, Any] = {}

    @property
    def weights(self) -> list[Any]:
        return [weight for each in self._maps.values() for weight in each.parameters()]

    def attach(self, layers: Any) -> None:
        """Look at what comes out of some layers. A wrapper, because hooks and the model's own
        record of hidden states would be compiled again on every pass."""
        held = self._held

        class Watched(self._torch.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self, layer: Any, depth: int) -> None:
                super().__init__()
                self.layer, self.depth = layer, depth

            def forward(self, *args: Any, **kwargs: Any) -> Any:
                out = self.layer(*args, **kwargs)
                held[self.depth] = out[0] if isinstance(out, tuple) else out
                return out

        for depth in self._maps:
            layers[depth - 1] = Watched(layers[depth - 1], depth)

    def answers(self, marked: Sequence[tuple[int, int]]) -> list[Any]:
        """After a pass: one table of logits for each reader, with a row for each marked token,
        (row, place)."""
        torch = self._torch
        held = [self._held.pop(depth) for depth in self._maps]
        if not marked:
            return []
        at = torch.tensor(marked, device=held[0].device)
        found = []
        for states, each in zip(held, self._maps.values(), strict=True):
            chosen = states[at[:, 0], at[:, 1]].float()
            found.append(each(torch.nn.functional.rms_norm(chosen, chosen.shape[-1:])))
        return found

    def snapshot(self) -> dict[int, Any]:
        return {depth: each.state_dict() for depth, each in self._maps.items()}

    def restore(self, kept: dict[int, Any]) -> None:
        for depth, each in self._maps.items():
            each.load_state_dict(kept[depth])
