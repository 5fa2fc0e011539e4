"""A model behind an OpenAI-compatible endpoint, in any role: ``openai:MODEL@URL``.

Suspicion is computed from the model's answer:

- menu: the probabilities of the flags' labels among all labels in the server's ``top_logprobs``,
  added up for each agent. A flag that is not among them counts as 0.
- json: the reply's field ``suspicion``. One that cannot be used is left out and counted; the
  action of the reply is played.
- a json reply without it, a server without logprobs, and a menu whose labels are not one token
  each: a flag's own confidence (1 if it names none) and 0 for the other agents. A turn without a
  flag has none.

The server does not tell its tokens. Labels of two letters are taken for one token each if the
first token of the reply is its whole label and such a label is among the likeliest first tokens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from chaosops.core.actions import Action, FlagRogue, Unreadable, failed_turn
from chaosops.core.decision import Chat, Decision, Exchange
from chaosops.core.vocabulary import Role
from chaosops.policies.chat import flag_suspicion
from chaosops.policies.llm.account import current_account
from chaosops.policies.llm.answers import Answer, first_words
from chaosops.policies.llm.clients import Client
from chaosops.policies.llm.formats import ENDPOINT_FORMATS, filled_in, load_format
from chaosops.policies.llm.http_chat import ChatClient, EndpointDown, EndpointRefused, tell
from chaosops.policies.llm.labels import has_whole_labels, weigh_flags
from chaosops.policies.llm.own_prompt import read_own_prompt
from chaosops.policies.llm.questions import Questions
from chaosops.policies.llm.replies import (
    answer_alone,
    ends_in_reasoning,
    why_lost,
    with_correction,
)
from chaosops.policies.llm.server_notes import ServerNotes
from chaosops.policies.llm.spec import ModelSpec, read_price
from chaosops.policies.protocol import DecisionRequest
from chaosops.roles.parse import parse
from chaosops.roles.schema import Schema, action_schema, view_schema
from chaosops.roles.view import RoleView

ATTEMPTS = 2  # in the second, the model is shown the error in its first reply
MESSAGE_CHARS = 120  # a small model may never end a free text
TOP_LOGPROBS = 20  # the API's maximum
_HARMLESS: Chat = ({"role": "user", "content": "Say yes."},)
_OF_THE_PROMPT = frozenset({400, 413, 422})  # refusals that may concern one prompt alone


class EndpointPolicy:
    sees_truth = False

    def __init__(self, spec: ModelSpec, client: Client | None = None) -> None:
        self._client = ChatClient(spec) if client is None else client
        self.name = spec.text
        spec.require_options_of("an endpoint")
        self._model = spec.model
        own_prompt = read_own_prompt(spec.options["prompt"]) if "prompt" in spec.options else ""
        format_name = load_format(spec.options.get("format", "json")).name
        self._format = ENDPOINT_FORMATS[format_name](own_prompt)
        self._questions = Questions(spec, format_name)
        self._refused: frozenset[str] = frozenset()  # fields that the server does not take
        self._price = read_price(spec.options.get("price"))
        self._account = current_account()
        self._account.require_price(spec.shown, self._price)
        self._cut_told = False
        self._granted: dict[str, int] = {}  # which of the wishes the server granted first
        self._notes = ServerNotes()

    def status(self) -> Mapping[str, Any]:
        """What the replies depend on and what the server granted. Outages do not change it."""
        as_json = self._format.name == "json"
        flags = "the confidence of its flags"
        questions, refused = self._questions, sorted(self._refused)
        return {
            "kind": "model",
            "policy": self.name,
            "sees_truth": False,
            "model": self._model,
            "revision": self._notes.revision(),
            "adapter": None,
            "backend": f"endpoint {self._client.url}",
            "format": self._format.name,
            "constrained": self._notes.wish("json_schema") if as_json else "no (plain text)",
            "suspicion": "told in its replies" if as_json else self._notes.wish("logprobs", flags),
            "temperature": None if "temperature" in refused else questions.temperature,
            "max_tokens": questions.max_tokens,
            **({"extra": dict(questions.extra)} if questions.extra else {}),
            **({"own_prompt": self._format.own_prompt} if self._format.own_prompt else {}),
            **({"refused": refused} if refused else {}),
            "usage": self._notes.usage,
            "price_usd_per_million": self._price and list(self._price),
        }

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        return self._client.run(lambda: self._decide_all(requests)) if requests else []

    async def _decide_all(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        # The first request goes alone and finds out what the server can do, so that no race
        # between the others decides what is remembered.
        alone = self._wishes(requests[0].view)[0] not in self._granted
        decided = [await self._decide(request) for request in requests[: int(alone)]]
        rest = requests[len(decided) :]
        tasks = [asyncio.create_task(self._decide(request)) for request in rest]
        try:
            return decided + await asyncio.gather(*tasks)
        finally:
            # After a final failure or Ctrl-C, the other requests are cancelled.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _decide(self, request: DecisionRequest) -> Decision:
        view = request.view
        chat = self._format.messages(view)
        read = written = attempts = reasoning = 0
        came_back = False
        while True:
            attempts += 1
            try:
                answer, granted = await self._ask(request, chat)
            except (EndpointDown, EndpointRefused) as problem:
                if not await self._answers_others(request, problem):
                    raise
                if isinstance(problem, EndpointDown) and not came_back:
                    came_back, attempts = True, attempts - 1  # it may have been an outage
                    continue
                # The server's message may hold anything, so it is printed and not recorded.
                tell(f"a turn of {view.role} is lost: {problem}")
                lost = Exchange(chat, "", read, written, attempts, reasoning)
                return Decision(failed_turn(why_lost(problem)), None, lost)
            self._notes.add(answer)
            answer = self._without_reasoning(answer)
            read += answer.tokens_read or 0
            written += answer.tokens_written or 0
            reasoning += answer.reasoning_chars
            action = self._read(view, answer, granted)
            if not isinstance(action, Unreadable) or attempts == ATTEMPTS:
                break
            chat = with_correction(chat, answer.text, action)
        suspicion, lost_it = None, False
        if view.role is Role.OVERSIGHT:
            suspicion = self._suspicion(view, action, answer, granted)
            lost_it = self._loses_suspicion(view, action, answer)
            if suspicion and isinstance(action, FlagRogue):
                sure = suspicion.get(action.target, action.confidence)
                action = replace(action, confidence=sure)
        said = Exchange(chat, answer.text, read, written, attempts, reasoning, lost_it)
        return Decision(action, suspicion, said)

    def _without_reasoning(self, answer: Answer) -> Answer:
        alone = answer_alone(answer, self._format.name)
        if ends_in_reasoning(alone) and not self._cut_told:
            self._cut_told = True
            tell(
                f"{self.name}: a reply ended in its reasoning after {self._questions.max_tokens} "
                f"tokens; +max_tokens={16 * self._questions.max_tokens} leaves room for an answer"
            )
        return alone

    async def _answers_others(
        self, request: DecisionRequest, problem: EndpointDown | EndpointRefused
    ) -> bool:
        """Whether only this prompt fails: too long, filtered, never answered.

        A player whose words get into a prompt must not be able to end the run.
        """
        if isinstance(problem, EndpointRefused) and problem.status not in _OF_THE_PROMPT:
            return False
        question = self._questions.body(_HARMLESS, self._refused)
        try:
            await self._pay_for(question, request.key, patience_s=0.0)
        except (EndpointDown, EndpointRefused):
            return False
        return True

    async def _complete(self, question: Mapping[str, Any], key: int) -> Answer:
        """A reply that was paid for by an earlier run is not asked for again."""
        replies, url = self._account.replies, self._client.url
        if kept := replies.get(url, question):
            return kept
        answer = await self._pay_for(question, key)
        replies.add(url, question, answer)
        return answer

    async def _pay_for(
        self, question: Mapping[str, Any], key: int, patience_s: float | None = None
    ) -> Answer:
        async with self._account.request() as pay:
            answer = await self._client.complete(question, key, patience_s)
            pay(self.name, answer, self._price)
        return answer

    async def _ask(self, request: DecisionRequest, chat: Chat) -> tuple[Answer, bool]:
        """The answer, and whether the server granted a wish."""
        kind, wishes = self._wishes(request.view)
        level = self._granted.get(kind, 0)
        refused = self._refused
        while True:
            question = self._questions.body(chat, refused) | wishes[level]
            try:
                answer = await self._complete(question, request.key)
                break
            except EndpointRefused as refusal:
                if refusal.status not in (400, 422):
                    raise
                if field := self._questions.blamed(refusal.said, refused):
                    refused |= {field}
                    continue
                # The server may refuse the wish. The last request has none.
                if level + 1 == len(wishes):
                    raise
                level += 1
        self._refused |= refused
        self._granted.setdefault(kind, level)
        granted = level + 1 < len(wishes)
        if kind and not granted:
            self._notes.wishes_met.add("refused")
        return answer, granted

    def _wishes(self, view: RoleView) -> tuple[str, list[dict[str, Any]]]:
        """Features that a server may not have, the best first, then none."""
        if self._format.name == "json":
            suspects = self._format.asks_suspicion(view)
            forms = [view_schema(view, chars, suspects) for chars in (MESSAGE_CHARS, None)]
            return "json_schema", [*map(_response_format, forms), {}]
        if view.role is Role.OVERSIGHT:
            return "logprobs", [{"logprobs": True, "top_logprobs": TOP_LOGPROBS}, {}]
        return "", [{}]

    def _read(self, view: RoleView, answer: Answer, granted: bool) -> Action:
        if self._format.name == "json" and granted:
            action_alone, _ = self._format.split(view, answer.text)
            filled = filled_in(action_alone, action_schema(view.rules, view.role))
            if filled is not None:
                self._notes.wishes_met.add("kept")
                return parse(filled)
            if answer.finish_reason != "length":  # a cut reply says nothing
                self._notes.wishes_met.add("ignored")
        return self._format.read(view, answer.text)

    def _suspicion(
        self, view: RoleView, action: Action, answer: Answer, granted: bool
    ) -> dict[str, float] | None:
        if told := self._told(view, action, answer):
            return told
        if self._format.name == "menu" and granted:
            first = first_words(answer.logprobs)
            replies = self._format.replies(view)
            # A first word that is not a label ("I think ...") says nothing about labels.
            is_label = bool(first) and not isinstance(action, Unreadable)
            if is_label and not has_whole_labels(first, answer.text, replies):
                self._notes.wishes_met.add("splits labels in")
            else:
                self._notes.wishes_met.add("kept" if first else "ignored")
                if is_label:
                    return weigh_flags(view, first, replies)
        return flag_suspicion(view, action)

    def _told(self, view: RoleView, action: Action, answer: Answer) -> dict[str, float] | None:
        """The suspicion in a reply. A reply whose action cannot be read tells none."""
        if isinstance(action, Unreadable):
            return None
        return self._format.split(view, answer.text)[1]

    def _loses_suspicion(self, view: RoleView, action: Action, answer: Answer) -> bool:
        asked = self._format.asks_suspicion(view) and not isinstance(action, Unreadable)
        return asked and self._told(view, action, answer) is None


def _response_format(schema: Schema) -> dict[str, Any]:
    form = {"name": "action", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": form}}
