"""One forward pass over many prompts: which go together, and what makes it fast on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def passes(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Group prompts of similar length, as many as fit into ``most`` tokens with padding.

    >>> passes([5, 50, 6], 20)
    [[0, 2], [1]]
    """
    found: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not found or lengths[i] * (len(found[-1]) + 1) > most:
            found.append([])
        found[-1].append(i)
    return found


def padded(torch: Any, prompts: Sequence[Sequence[int]], device: Any) -> tuple[Any, Any]:
    """The tokens as a table, and each row's last place. The padding is on the right: in a causal
    model the last token never sees it, so no mask is needed."""
    ends = torch.tensor([len(prompt) - 1 for prompt in prompts])
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in prompts], batch_first=True)
    return ids.to(device), ends.to(device)


def speed_up(torch: Any, model: Any, compiles: bool) -> None:
    """Fuse the norms, and compile each layer if asked (20 s, once). On a GPU a small model
    spends most time in the many small operations between its matrix products."""
    for layer in model.modules():
        for name, norm in list(layer.named_children()):
            # Norms that add 1 to their weight call it eps.
            if type(norm).__name__.endswith("RMSNorm") and hasattr(norm, "variance_epsilon"):
                fused = torch.nn.RMSNorm(norm.weight.shape, eps=norm.variance_epsilon)
                fused.weight = norm.weight
                setattr(layer, name, fused)
    if compiles:
        for layer in model.model.layers:
            layer.compile(dynamic=True)
