"""TRL's GRPO trainer with remedies for groups whose replies are all the same.

From an untrained base, GRPO ends at ``noop``: at first almost every other action costs points, and
a group of equal replies has no gradient. Each remedy is a value of the recipe, off by default.
Where TRL has one itself, it is only switched on: ``entropy_target``, ``clip_high``, ``reuse``.
Generation, rewards, advantages, loss and checkpoints are TRL's. Overridden are:

- ``_generate_single_turn``: some replies are replaced after generation (``virtual_best``,
  ``floor``). TRL reads, rewards and compares them like the others.
- ``_calculate_rewards``: the rewards are kept, because TRL passes on advantages only.
- ``_generate_and_score_completions``: the advantages of groups that do not count become 0
  (``keep_groups``), and where replies come from is passed on to the loss.
- ``_compute_loss`` and ``_get_per_token_logps_and_entropies``: TRL reads advantages and
  log-probabilities at the drawing after it has computed those of now. In between they are changed
  (``trl_ratio.py``).
- ``_load_from_checkpoint``: with a second adapter, the trained one is not restored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from trl import GRPOTrainer

from chaosops.core.dice import Dice, key_of
from chaosops.core.errors import BadInput
from chaosops.training.live_model import START
from chaosops.training.recipe import Recipe
from chaosops.training.single_turns import TurnKey, legal_replies
from chaosops.training.trl_ratio import Origin, pushes

CLIP_LOW = 0.2
_ORIGIN = "origin_{}"


class Trainer(GRPOTrainer):  # type: ignore[misc]
    def __init__(self, recipe: Recipe, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._recipe = recipe
        self._replaces = recipe.virtual_best or recipe.floor > 0
        self._changes_loss = self._replaces or recipe.bound_bad > 0
        self._inputs: dict[str, Any] | None = None  # of the loss that is being computed
        self._tokens: dict[str, list[int]] = {}  # of legal replies, which come again and again

    # Replies

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        for row in inputs:
            row["own"] = True
        self._rows = inputs
        self._origins = [(False, 0.0, 0.0)] * len(inputs)
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        output["advantages"] = output["advantages"] * self._counts(len(inputs))
        if self._changes_loss:
            device = output["advantages"].device
            columns = zip(*self._origins, strict=True)
            for name, values in zip(Origin._fields, columns, strict=True):
                output[_ORIGIN.format(name)] = torch.tensor(values, device=device)
        return output

    def _generate_single_turn(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        replies, logprobs = super()._generate_single_turn(*args, **kwargs)
        if self._replaces:
            replies = [self._reply(place, drawn) for place, drawn in enumerate(replies)]
        return replies, logprobs

    def _reply(self, place: int, drawn: Sequence[int]) -> Sequence[int]:
        """The reply in this place of the batch, as tokens, instead of the drawn one."""
        row, recipe = self._rows[place], self._recipe
        place_of_all = self.accelerator.process_index * len(self._rows) + place
        legal = self._legal(TurnKey(row["episode"], row["turn"], row["progress"]))
        dice = Dice(key_of("given replies", recipe.seed, self.state.global_step, place_of_all))
        if recipe.virtual_best and place_of_all % self.num_generations == 0:
            row["own"] = False
            self._origins[place] = (True, 0.0, 0.0)
            best = max(legal.values())
            return dice.pick([reply for reply, reward in legal.items() if reward == best])
        floor = recipe.floor * max(0.0, 1 - self.state.global_step / recipe.floor_steps)
        reply = tuple(drawn)
        if dice.unit() < floor:
            row["own"] = False
            reply = dice.pick(list(legal))
        if all(len(each) == 1 for each in legal):
            odds = 1 / len(legal) if reply in legal else 0.0
            self._origins[place] = (False, floor, odds)
        else:
            # The mixture's probability of a single token in a longer reply is not known.
            self._origins[place] = (not row["own"], 0.0, 0.0)
        return reply

    def _legal(self, key: TurnKey) -> dict[tuple[int, ...], float]:
        """The rewards of all legal replies that fit, as tokens with an end if there is room."""
        found = {}
        room = self.args.max_completion_length
        tokenizer = self.processing_class
        for reply, reward in legal_replies(self._recipe, key).items():
            if (tokens := self._tokens.get(reply)) is None:
                tokens = tokenizer.encode(reply, add_special_tokens=False)
                self._tokens[reply] = tokens
            if len(tokens) <= room:
                found[tuple([*tokens, tokenizer.eos_token_id][:room])] = reward
        if not found:
            raise BadInput(f"no legal reply has {room} tokens or less: raise max_reply_tokens")
        return found

    # Advantages

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> Any:
        self._rewards = super()._calculate_rewards(*args, **kwargs)
        return self._rewards

    def _counts(self, rows: int) -> Any:
        """The weight of each row of this process. Groups that count share the weight of all."""
        weights = self.reward_weights.to(self._rewards.device)
        rewards = (self._rewards * weights).nansum(1).view(-1, self.num_generations)
        counts = counted(rewards, self._recipe.keep_groups)
        first = self.accelerator.process_index * rows
        return counts.repeat_interleave(self.num_generations)[first : first + rows]

    # Loss

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        if not self._changes_loss:
            return super()._compute_loss(model, inputs)
        self._inputs = dict(inputs)  # a copy: with ``reuse`` they are needed unchanged again
        try:
            return super()._compute_loss(model, self._inputs)
        finally:
            self._inputs = None

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
        now, entropies, aux_loss = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        if (inputs := self._inputs) is not None:
            origin = Origin(*(inputs[_ORIGIN.format(name)][:, None] for name in Origin._fields))
            before = inputs.get("old_per_token_logps", now.detach())
            advantages = inputs["advantages"][:, None]
            found = pushes(self._recipe, now, before, advantages, origin)
            inputs["advantages"], inputs["old_per_token_logps"] = found
        return now, entropies, aux_loss

    # Checkpoints

    def _load_from_checkpoint(self, checkpoint: str, model: Any = None) -> None:
        super()._load_from_checkpoint(checkpoint, model)
        if START in self.model.peft_config:
            self.model.load_adapter(checkpoint, "default", is_trainable=True)
            self.model.set_adapter("default")


def counted(rewards: Any, share: float) -> Any:
    """A weight for each group, a row of rewards. The ``share`` of groups with the largest
    deviation count, but none whose rewards are all the same. The mean weight is 1.

    >>> counted(torch.tensor([[0.0, 9], [1, 2], [3, 3], [4, 6]]), 0.5).tolist()
    [2.0, 0.0, 0.0, 2.0]
    """
    if share == 1.0:
        return torch.ones(len(rewards), device=rewards.device)
    deviations = rewards.std(1)
    most = max(1, round(share * len(rewards)))
    counts = torch.zeros_like(deviations)
    counts[deviations.topk(most).indices] = 1.0
    counts[deviations < 1e-6] = 0.0
    return counts * len(rewards) / counts.sum().clamp_min(1.0)
