"""Replies from a menu for TRL's trainer: one label, which is one token.

One forward pass over a prompt gives the probability of every label that its menu offers. So a
prompt is computed once, however many replies are drawn, and nothing else than a label is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from typing import Any

import torch
from peft.tuners.lora import Linear
from torch.utils.checkpoint import checkpoint

from chaosops.core.errors import BadInput
from chaosops.policies.llm.forward import padded, passes

_SHORT_PASS = 6_000  # tokens that keep a GPU busy


class Labels:
    """The labels of menus as tokens of one model."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._tokens: dict[str, list[int]] = {}

    def tokens(self, labels: Iterable[str]) -> dict[str, int]:
        """Without labels that this model writes in several tokens."""
        found = {}
        for label in labels:
            if (tokens := self._tokens.get(label)) is None:
                tokens = self._tokenizer.encode(label, add_special_tokens=False)
                self._tokens[label] = tokens
            if len(tokens) == 1:
                found[label] = tokens[0]
        if not found:
            raise BadInput("this model writes no label in one token: set reply_format = 'json'")
        return found


class Menus:
    """Different prompts, as tokens, and the label tokens that the menu of each offers."""

    def __init__(self, prompts: Sequence[Sequence[int]], offered: Sequence[Sequence[int]]) -> None:
        self.prompts = prompts
        self.offered = offered
        # Sorted, so that searchsorted finds a token's column.
        self.tokens = sorted({token for tokens in offered for token in tokens})

    @cached_property
    def absent(self) -> Any:
        columns = {token: column for column, token in enumerate(self.tokens)}
        absent = torch.ones(len(self.offered), len(columns), dtype=torch.bool)
        for row, tokens in enumerate(self.offered):
            absent[row, [columns[token] for token in tokens]] = False
        return absent


def label_logs(model: Any, menus: Menus, most_tokens: int, temperature: float = 1.0) -> Any:
    """The log-probability of each label among those offered: a row for each prompt, a column for
    each of ``menus.tokens``, minus infinity where a menu lacks it.

    Prompts of similar length share a pass, which saves padding. If all passes together have more
    than ``most_tokens``, gradients need the activations of one pass only: they are computed again
    in the backward pass instead of being kept.
    """
    lengths = [len(prompt) for prompt in menus.prompts]
    groups = passes(lengths, min(_SHORT_PASS, most_tokens))
    total = sum(len(places) * lengths[places[-1]] for places in groups)
    repeats = total > most_tokens and torch.is_grad_enabled()
    if repeats or not torch.is_grad_enabled():
        groups = passes(lengths, most_tokens)
    device = next(model.parameters()).device
    tokens = torch.tensor(menus.tokens, device=device)
    found = []
    for places in groups:
        some = [menus.prompts[place] for place in places]
        if repeats:
            logits = checkpoint(_last_logits, model, some, device, use_reentrant=False)
        else:
            logits = _last_logits(model, some, device)
        found.append(logits[:, tokens])
    order = torch.tensor([place for places in groups for place in places], device=device)
    logits = torch.cat(found)[order.argsort()].float() / temperature
    return torch.log_softmax(logits.masked_fill(menus.absent.to(device), float("-inf")), dim=1)


def entropy_of(logs: Any) -> Any:
    """In nats, for each row of log-probabilities."""
    return -(logs.exp() * logs.masked_fill(logs.isinf(), 0.0)).sum(1)


def _last_logits(model: Any, prompts: Sequence[Sequence[int]], device: Any) -> Any:
    """The logits after each prompt."""
    ids, last = padded(torch, prompts, device)
    rows = torch.arange(len(prompts), device=device)
    # The head is needed at the last token only, so it is given nothing else.
    head = _unwrapped(model).get_output_embeddings()
    hook = head.register_forward_pre_hook(lambda _, args: (args[0][rows, last],))
    try:
        return model(input_ids=ids, use_cache=False).logits
    finally:
        hook.remove()


def _unwrapped(model: Any) -> Any:
    return getattr(model, "module", model)


def multiply_once(model: Any) -> None:
    """Compute (W + BA) x, one large matrix product, where PEFT computes W x + B (A x) in three and
    keeps more activations."""
    for layer in model.modules():
        if isinstance(layer, Linear):
            layer.forward = partial(_product, layer, layer.forward)


def _product(layer: Any, plain: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if layer.disable_adapters or layer.merged or len(layer.active_adapters) != 1:
        return plain(x, *args, **kwargs)
    name = layer.active_adapters[0]
    base = layer.base_layer
    delta = (layer.lora_B[name].weight @ layer.lora_A[name].weight) * layer.scaling[name]
    whole = base.weight + delta.to(base.weight.dtype)
    return torch.nn.functional.linear(x, whole, base.bias)
