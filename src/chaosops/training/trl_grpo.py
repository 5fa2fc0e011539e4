"""TRL's GRPO trainer: replies from a menu in one forward pass, and remedies for groups whose
replies are all the same.

From an untrained base, GRPO ends at ``noop``: at first almost every other action costs points, and
a group of equal replies has no gradient. Each remedy is a value of the recipe, off by default.
Where TRL has one itself, it is only switched on: ``entropy_target``, ``clip_high``, ``reuse``.
Rewards, advantages, loss and checkpoints are TRL's, and so is the generation of JSON. Overridden
are:

- ``_tokenize_prompts``: each prompt once, where TRL encodes it for every reply.
- ``_generate_single_turn``: with menus, replies are drawn from the labels that the prompt offers
  (``trl_menu.py``). Some replies are replaced (``virtual_best``, ``floor``). TRL reads, rewards
  and compares them like the others.
- ``_calculate_rewards``: the rewards are kept, because TRL passes on advantages only.
- ``_generate_and_score_completions``: the advantages of groups that do not count become 0
  (``keep_groups``), and where replies come from is passed on to the loss.
- ``_compute_loss`` and ``_get_per_token_logps_and_entropies``: with menus, log-probabilities are
  those among the labels offered. TRL reads advantages and log-probabilities at the drawing after
  it has computed those of now. In between they are changed (``trl_ratio.py``).
- ``_load_from_checkpoint``: with a second adapter, the trained one is not restored.
- ``_send_telemetry``: nothing about a run leaves the machine.
- ``create_model_card``: a checkpoint needs none, and TRL's asks for the versions of packages that a
  run can do without.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import torch
from trl import GRPOTrainer

from chaosops.core.dice import Dice, key_of
from chaosops.core.errors import BadInput
from chaosops.training.live_model import START
from chaosops.training.recipe import Recipe
from chaosops.training.single_turns import Judge, TurnKey
from chaosops.training.trl_menu import Labels, Menus, entropy_of, label_logs
from chaosops.training.trl_ratio import Origin, pushes

CLIP_LOW = 0.2
PROMPT_TOKENS = "prompt_tokens"
_ORIGIN = "origin_{}"
_PLACE = "place"


class Trainer(GRPOTrainer):  # type: ignore[misc]
    def __init__(self, recipe: Recipe, judge: Judge, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.menu = recipe.reply_format == "menu"
        self._recipe = recipe
        self._judge = judge
        self._labels = Labels(self.processing_class)
        self._replaces = recipe.virtual_best > 0 or recipe.floor > 0
        self._inputs: dict[str, Any] | None = None  # of the loss that is being computed
        self._tokens: dict[str, list[int]] = {}  # of legal replies, which come again and again
        self._logs_at_drawing: Any = None  # with gradients, for the loss of the same weights

    def _send_telemetry(self) -> None:
        pass

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        pass

    # Replies

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        for row in inputs:
            row["own"] = True
        self._rows = inputs
        self._origins = [(False, 0.0, 0.0)] * len(inputs)
        keys = [TurnKey(row["episode"], row["turn"], row["progress"]) for row in inputs]
        self._keys = list(dict.fromkeys(keys))
        places = {key: place for place, key in enumerate(self._keys)}
        self._places = [places[key] for key in keys]
        if self._replaces or self.menu:
            self._legal = [self._legal_replies(key) for key in self._keys]
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        output["advantages"] = output["advantages"] * self._counts(len(inputs))
        device = output["advantages"].device
        output[_PLACE] = torch.tensor(self._places, device=device)
        columns = zip(*self._origins, strict=True)
        for name, values in zip(Origin._fields, columns, strict=True):
            output[_ORIGIN.format(name)] = torch.tensor(values, device=device)
        return output

    def _tokenize_prompts(self, prompts: list[Any]) -> tuple[Any, Any, Any]:
        first = {place: row for row, place in reversed(list(enumerate(self._places)))}
        different = [prompts[first[place]] for place in range(len(self._keys))]
        found, images, others = super()._tokenize_prompts(different)
        tokens = torch.tensor(sum(map(len, found)), device=self.accelerator.device)
        total = self.accelerator.gather(tokens).sum().item()
        self._metrics["train"][PROMPT_TOKENS].append(total)
        return [found[place] for place in self._places], images, others

    def _generate_single_turn(self, prompt_ids: Any, *args: Any) -> tuple[Any, Any]:
        if self.menu:
            replies, logprobs = self._drawn(prompt_ids), None
        else:
            replies, logprobs = super()._generate_single_turn(prompt_ids, *args)
        if self._replaces:
            replies = [self._reply(place, drawn) for place, drawn in enumerate(replies)]
        return replies, logprobs

    def _drawn(self, prompts: Sequence[Sequence[int]]) -> list[Sequence[int]]:
        """A label for each row, drawn from the menu of its prompt."""
        different = dict(zip(self._places, prompts, strict=True))
        offered = [[token for (token,) in legal] for legal in self._legal]
        self._menus = Menus([different[place] for place in range(len(offered))], offered)
        # Without reuse the loss needs the same probabilities, of the same weights.
        keeps = self.num_iterations == 1 and self.model.training
        with nullcontext() if keeps else torch.no_grad():
            logs = label_logs(self.model_wrapped, self._menus, *self._passes)
        self._logs_at_drawing = logs if keeps else None
        step, process = self.state.global_step, self.accelerator.process_index
        key = key_of("drawn labels", self._recipe.seed, step, process) >> 1
        dice = torch.Generator().manual_seed(key)
        odds = logs.detach().exp().cpu()[self._places]
        columns = torch.multinomial(odds, 1, generator=dice)[:, 0].tolist()
        return [(self._menus.tokens[column],) for column in columns]

    @property
    def _passes(self) -> tuple[int, float]:
        return self._recipe.batch_tokens, self._recipe.sampling_temperature

    def _reply(self, row_place: int, drawn: Sequence[int]) -> Sequence[int]:
        """The reply in this row of the batch, as tokens, instead of the drawn one."""
        row, recipe = self._rows[row_place], self._recipe
        place_of_all = self.accelerator.process_index * len(self._rows) + row_place
        legal = self._legal[self._places[row_place]]
        dice = Dice(key_of("given replies", recipe.seed, self.state.global_step, place_of_all))
        if place_of_all % self.num_generations < recipe.virtual_best:
            row["own"] = False
            self._origins[row_place] = (True, 0.0, 0.0)
            best = max(legal.values())
            return dice.pick([reply for reply, reward in legal.items() if reward == best])
        floor = recipe.floor * max(0.0, 1 - self.state.global_step / recipe.floor_steps)
        reply = tuple(drawn)
        if dice.unit() < floor:
            row["own"] = False
            reply = dice.pick(list(legal))
        if self.menu:
            self._origins[row_place] = (False, floor, 1 / len(legal))
        else:
            # The mixture's probability of a single token in a longer reply is not known.
            self._origins[row_place] = (not row["own"], 0.0, 0.0)
        return reply

    def _legal_replies(self, key: TurnKey) -> dict[tuple[int, ...], float]:
        """The rewards of all legal replies: of labels as one token, of others as tokens with an end
        if there is room."""
        rewards = self._judge.rewards(key)
        if self.menu:
            tokens = self._labels.tokens(rewards)
            return {(token,): rewards[label] for label, token in tokens.items()}
        found = {}
        room = self.args.max_completion_length
        tokenizer = self.processing_class
        for reply, reward in rewards.items():
            if (written := self._tokens.get(reply)) is None:
                written = tokenizer.encode(reply, add_special_tokens=False)
                self._tokens[reply] = written
            if len(written) <= room:
                found[tuple([*written, tokenizer.eos_token_id][:room])] = reward
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
        self._inputs = dict(inputs)  # a copy: with ``reuse`` they are needed unchanged again
        try:
            return super()._compute_loss(model, self._inputs)
        finally:
            self._inputs = None

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: Any, *args: Any, **kwargs: Any
    ) -> tuple[Any, Any, Any]:
        if self.menu:
            now, entropies, aux_loss = *self._of_labels(model, input_ids[:, -1].contiguous()), None
        else:
            now, entropies, aux_loss = super()._get_per_token_logps_and_entropies(
                model, input_ids, *args, **kwargs
            )
        if (inputs := self._inputs) is not None:
            origin = Origin(*(inputs[_ORIGIN.format(name)][:, None] for name in Origin._fields))
            before = inputs.get("old_per_token_logps", now.detach())
            advantages = inputs["advantages"][:, None]
            found = pushes(self._recipe, now, before, advantages, origin)
            inputs["advantages"], inputs["old_per_token_logps"] = found
        return now, entropies, aux_loss

    def _of_labels(self, model: Any, written: Any) -> tuple[Any, Any]:
        """The log-probabilities of written labels among those offered, and the entropies."""
        logs, places = None, torch.tensor(self._places, device=written.device)
        if self._inputs is not None:
            logs, places = self._logs_at_drawing, self._inputs[_PLACE]
            self._logs_at_drawing = None
        if logs is None:
            logs = label_logs(model, self._menus, *self._passes)
        device = logs.device
        columns = torch.searchsorted(torch.tensor(self._menus.tokens, device=device), written)
        return logs[places, columns][:, None], entropy_of(logs)[places][:, None]

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
