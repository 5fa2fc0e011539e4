"""The model that TRL trains, as a policy between updates.

Replies are as in training: from a menu the likeliest label that it offers, in JSON whatever the
model writes, and what nobody can read is a miscommunication. They are greedy, so validation draws
no random numbers and does not change the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

import torch
from trl.models import unwrap_model_for_generation
from trl.trainer.utils import use_adapter

from chaosops.core.decision import Chat, Decision, Exchange
from chaosops.policies.llm.formats import load_format
from chaosops.policies.llm.forward import passes
from chaosops.policies.protocol import DecisionRequest
from chaosops.training.recipe import Recipe
from chaosops.training.single_turns import Prompt, labels_of
from chaosops.training.trl_menu import Labels, Menus, label_logs

START = "ref"  # TRL's name for the adapter at the start of a run
_PASS_TOKENS = 100_000  # generation keeps no activations


class LivePolicy:
    """The live model in every role."""

    name = "learner"
    sees_truth = False

    def __init__(self, recipe: Recipe, trainer: Any) -> None:
        self._room = recipe.max_reply_tokens
        self._format = load_format(recipe.reply_format)
        self._trainer = trainer
        self._tokenizer = trainer.processing_class
        self._recipe = recipe
        self._labels = Labels(trainer.processing_class)
        self._constrained = recipe.reply_format == "menu"

    def status(self) -> Mapping[str, Any]:
        return {
            "kind": "model",
            "policy": self.name,
            "sees_truth": False,
            "format": self._format.name,
            "constrained": self._constrained,
        }

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        chats = [self._format.messages(request.view) for request in requests]
        if self._constrained:
            replies = self._chosen(chats, [self._format.replies(r.view) for r in requests])
        else:
            replies = self._replies(chats)
        decisions = []
        for request, chat, (prompt, written) in zip(requests, chats, replies, strict=True):
            reply = self._tokenizer.decode(written, skip_special_tokens=True)
            action = self._format.read(request.view, reply)
            exchange = Exchange(chat, reply, len(prompt), len(written))
            decisions.append(Decision(action, exchange=exchange))
        return decisions

    def choose(self, chats: Sequence[Chat], offered: Sequence[Iterable[str]]) -> list[str]:
        """The likeliest label offered for each chat."""
        return [self._tokenizer.decode(written) for _, written in self._chosen(chats, offered)]

    def _chosen(
        self, chats: Sequence[Chat], offered: Sequence[Iterable[str]]
    ) -> list[tuple[list[int], list[int]]]:
        """For each chat its tokens, and the likeliest label offered."""
        menus = self._menus(chats, offered)
        with self._opened() as model:
            columns = label_logs(model, menus, _PASS_TOKENS).argmax(1).tolist()
        written = [[menus.tokens[column]] for column in columns]
        return [(list(p), reply) for p, reply in zip(menus.prompts, written, strict=True)]

    def _menus(self, chats: Sequence[Chat], offered: Sequence[Iterable[str]]) -> Menus:
        tokens = [list(self._labels.tokens(labels).values()) for labels in offered]
        return Menus(encode(self._tokenizer, chats), tokens)

    def nats_from_start(self, prompts: Sequence[Prompt]) -> float:
        """Mean KL of a reply: of the labels that a menu offers, or of JSON, summed over the tokens
        of today's greedy reply."""
        if self._constrained:
            return self._menu_nats(prompts)
        written = self._replies([prompt.chat for prompt in prompts])
        total = 0.0
        with self._opened() as model:
            start = START if START in model.peft_config else None
            for prompt, reply in written:
                now = _log_probabilities(model, prompt, reply)
                with use_adapter(model, start):
                    first = _log_probabilities(model, prompt, reply)
                total += float((now.exp() * (now - first)).sum())
        return total / len(written)

    def _menu_nats(self, prompts: Sequence[Prompt]) -> float:
        offered = [labels_of(self._recipe, prompt.key) for prompt in prompts]
        menus = self._menus([prompt.chat for prompt in prompts], offered)
        with self._opened() as model:
            now = label_logs(model, menus, _PASS_TOKENS)
            with use_adapter(model, START if START in model.peft_config else None):
                first = label_logs(model, menus, _PASS_TOKENS)
        change = (now - first).masked_fill(now.isinf(), 0.0)
        return float((now.exp() * change).sum(1).mean())

    def _replies(self, chats: Sequence[Chat]) -> list[tuple[list[int], list[int]]]:
        """For each chat its tokens, and those of the greedy reply without the end token."""
        prompts = encode(self._tokenizer, chats)
        found: dict[int, list[int]] = {}
        with self._opened() as model:
            for places in passes([len(prompt) + self._room for prompt in prompts], _PASS_TOKENS):
                written = self._generate(model, [prompts[i] for i in places])
                found.update(zip(places, written, strict=True))
        return [(prompt, found[i]) for i, prompt in enumerate(prompts)]

    def _generate(self, model: Any, prompts: Sequence[Sequence[int]]) -> list[list[int]]:
        inputs = self._tokenizer.pad({"input_ids": prompts}, return_tensors="pt").to(model.device)
        out = model.generate(
            **inputs,
            max_new_tokens=self._room,
            do_sample=False,
            temperature=None,
            top_p=None,
            top_k=None,
        )
        ends = model.generation_config.eos_token_id
        stops = {self._tokenizer.pad_token_id, *(ends if isinstance(ends, list) else [ends])}
        rows = out[:, inputs["input_ids"].shape[1] :].tolist()
        return [list(takewhile(lambda token: token not in stops, row)) for row in rows]

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """The model, able to generate."""
        trainer = self._trainer
        unwrapped = unwrap_model_for_generation(
            trainer.model_wrapped,
            trainer.accelerator,
            generation_kwargs=trainer.generation_kwargs,
            gradient_checkpointing_kwargs=trainer.args.gradient_checkpointing_kwargs,
        )
        with unwrapped as model, torch.no_grad():
            was_training = model.training
            model.eval()
            try:
                yield model
            finally:
                model.train(was_training)


def encode(tokenizer: Any, chats: Sequence[Chat]) -> list[list[int]]:
    messages = [[dict(message) for message in chat] for chat in chats]
    found: list[list[int]] = tokenizer.apply_chat_template(
        messages, tokenize=True, add_generation_prompt=True, return_dict=False
    )
    return found


def _log_probabilities(model: Any, prompt: list[int], reply: list[int]) -> Any:
    """A row over the vocabulary for each token of the reply, and for its end token."""
    ids = torch.tensor([[*prompt, *reply]], device=model.device)
    logits = model(input_ids=ids, logits_to_keep=len(reply) + 1, use_cache=False).logits[0]
    return torch.log_softmax(logits.float(), dim=1)
