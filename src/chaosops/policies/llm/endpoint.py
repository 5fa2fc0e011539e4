"""A model behind an OpenAI-compatible endpoint, in any role: ``openai:MODEL@URL``.

Suspicion is computed from the model's answer:

- menu: the probabilities of the flags' labels among all labels in the server's ``top_logprobs``,
  added up for each agent. A flag that is not among them counts as 0.
- json, a server without logprobs, and a menu whose labels are not one token each: a flag's own
  confidence (1 if it names none) and 0 for the other agents. A turn without a flag has none.

The server does not tell its tokens. Labels of two letters are taken for one token each if the
first token of the reply is its whole label and such a label is among the likeliest first tokens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from chaosops.core.actions import Action, FlagRogue, Unreadable, failed_turn
from chaosops.core.chain import prompt_hash
from chaosops.core.decision import Chat, Decision, Exchange
from chaosops.core.vocabulary import Role
from chaosops.policies.chat import suspicion_of
from chaosops.policies.llm.answers import Answer, first_words
from chaosops.policies.llm.clients import Client
from chaosops.policies.llm.formats import filled_in, label_of, load_format
from chaosops.policies.llm.http_chat import ChatClient, EndpointDown, EndpointRefused, tell
from chaosops.policies.llm.spec import ModelSpec, read_price
from chaosops.policies.protocol import DecisionRequest
from chaosops.roles.parse import MAX_REPLY_CHARS
from chaosops.roles.schema import Schema, action_schema, view_schema
from chaosops.roles.view import RoleView

ATTEMPTS = 2  # in the second, the model is shown the error in its first reply
MAX_TOKENS = {"json": 300, "menu": 8}
MESSAGE_CHARS = 120  # a small model may never end a free text
TOP_LOGPROBS = 20  # the API's maximum
_CUT = "…"
MOST_REVISIONS = 8  # a server could name a new one with every answer
_OF_THE_PROMPT = frozenset({400, 413, 422})  # refusals that may concern one prompt alone


class EndpointPolicy:
    sees_truth = False

    def __init__(self, spec: ModelSpec, client: Client | None = None) -> None:
        self._client = ChatClient(spec) if client is None else client
        self.name = spec.text
        spec.require_options_of("an endpoint")
        self._model = spec.model
        self._format = load_format(spec.options.get("format", "json"))
        self._temperature = spec.number("temperature", 0.0)
        self._price = read_price(spec.options.get("price"))
        self._granted: dict[str, int] = {}  # which of the wishes the server granted first
        self._wishes_met: set[str] = set()
        self._revisions: set[str] = set()
        self._usage_told: str | None = None

    def status(self) -> Mapping[str, Any]:
        """What the replies depend on and what the server granted. Outages do not change it."""
        as_json = self._format.name == "json"
        flags = "the confidence of its flags"
        return {
            "kind": "model",
            "policy": self.name,
            "sees_truth": False,
            "model": self._model,
            "revision": self._revision(),
            "adapter": None,
            "backend": f"endpoint {self._client.url}",
            "format": self._format.name,
            "constrained": self._wish("json_schema") if as_json else "no (plain text)",
            "suspicion": flags if as_json else self._wish("logprobs", flags),
            "temperature": self._temperature,
            "usage": self._usage_told,
            "price_usd_per_million": self._price and list(self._price),
        }

    def _revision(self) -> str | None:
        """In alphabetical order, because answers arrive in any order."""
        names = sorted(self._revisions)
        more = len(names) - MOST_REVISIONS
        shown = ", ".join(names[:MOST_REVISIONS])
        return (f"{shown} and {more} more" if more > 0 else shown) or None

    def _wish(self, name: str, instead: str = "no") -> str:
        met = self._wishes_met
        if met <= {"kept"}:
            return name if met else f"{name} (not asked yet)"
        trouble = " and ".join(sorted(met - {"kept"}))
        return f"{'partly' if 'kept' in met else instead} (server {trouble} {name})"

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        return self._client.run(lambda: self._decide_all(requests)) if requests else []

    async def _decide_all(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        slots = asyncio.Semaphore(self._client.concurrency)
        # The first request goes alone and finds out what the server can do, so that no race
        # between the others decides what is remembered.
        alone = self._wishes(requests[0].view)[0] not in self._granted
        decided = [await self._decide(slots, request) for request in requests[: int(alone)]]
        rest = requests[len(decided) :]
        tasks = [asyncio.create_task(self._decide(slots, request)) for request in rest]
        try:
            return decided + await asyncio.gather(*tasks)
        finally:
            # After a final failure or Ctrl-C, the other requests are cancelled.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _decide(self, slots: asyncio.Semaphore, request: DecisionRequest) -> Decision:
        view = request.view
        chat = self._format.messages(view)
        read = written = attempts = 0
        came_back = False
        while True:
            attempts += 1
            try:
                async with slots:
                    answer, granted = await self._ask(request, chat)
            except (EndpointDown, EndpointRefused) as problem:
                if not await self._answers_others(request, problem):
                    raise
                if isinstance(problem, EndpointDown) and not came_back:
                    came_back, attempts = True, attempts - 1  # it may have been an outage
                    continue
                # The server's message may hold anything, so it is printed and not recorded.
                tell(f"a turn of {view.role} is lost: {problem}")
                lost = Exchange(chat, "", read, written, attempts)
                return Decision(failed_turn(_why_lost(problem)), None, lost)
            answer = answer._replace(text=_kept(answer.text))
            self._note(answer)
            read += answer.tokens_read or 0
            written += answer.tokens_written or 0
            action = self._read(view, answer, granted)
            if not isinstance(action, Unreadable) or attempts == ATTEMPTS:
                break
            chat = _with_correction(chat, answer.text, action)
        suspicion = None
        if view.role is Role.OVERSIGHT:
            suspicion = self._suspicion(view, action, answer, granted)
            if suspicion and isinstance(action, FlagRogue):
                action = replace(action, confidence=suspicion[action.target])
        return Decision(action, suspicion, Exchange(chat, answer.text, read, written, attempts))

    async def _answers_others(
        self, request: DecisionRequest, problem: EndpointDown | EndpointRefused
    ) -> bool:
        """Whether only this prompt fails: too long, filtered, never answered.

        A player whose words get into a prompt must not be able to end the run.
        """
        if isinstance(problem, EndpointRefused) and problem.status not in _OF_THE_PROMPT:
            return False
        question = self._question(({"role": "user", "content": "Say yes."},))
        try:
            await self._client.complete(question, request.key, patience_s=0.0)
        except (EndpointDown, EndpointRefused):
            return False
        return True

    def _question(self, chat: Chat) -> dict[str, Any]:
        """Its seed follows from the prompt. One that followed from the episode's seed would let
        a server find out which episode it plays."""
        return {
            "model": self._model,
            "messages": list(chat),
            "temperature": self._temperature,
            "seed": int(prompt_hash(chat), 16) % 2**31,
            "max_tokens": MAX_TOKENS[self._format.name],
        }

    async def _ask(self, request: DecisionRequest, chat: Chat) -> tuple[Answer, bool]:
        """The answer, and whether the server granted a wish."""
        question = self._question(chat)
        kind, wishes = self._wishes(request.view)
        level = self._granted.get(kind, 0)
        while True:
            try:
                answer = await self._client.complete(question | wishes[level], request.key)
                break
            except EndpointRefused as refusal:
                # The server may refuse the wish. The last request has none.
                if refusal.status not in (400, 422) or level + 1 == len(wishes):
                    raise
                level += 1
        self._granted.setdefault(kind, level)
        granted = level + 1 < len(wishes)
        if kind and not granted:
            self._wishes_met.add("refused")
        return answer, granted

    def _wishes(self, view: RoleView) -> tuple[str, list[dict[str, Any]]]:
        """Features that a server may not have, the best first, then none."""
        if self._format.name == "json":
            forms = [view_schema(view, chars) for chars in (MESSAGE_CHARS, None)]
            return "json_schema", [*map(_response_format, forms), {}]
        if view.role is Role.OVERSIGHT:
            return "logprobs", [{"logprobs": True, "top_logprobs": TOP_LOGPROBS}, {}]
        return "", [{}]

    def _note(self, answer: Answer) -> None:
        if answer.revision:
            self._revisions.add(answer.revision)
        if answer.tokens_read is None or answer.tokens_written is None:
            self._usage_told = "usage not reported"
        self._usage_told = self._usage_told or "reported"

    def _read(self, view: RoleView, answer: Answer, granted: bool) -> Action:
        if self._format.name == "json" and granted:
            filled = filled_in(answer.text, action_schema(view.rules, view.role))
            if filled is not None:
                self._wishes_met.add("kept")
                return self._format.read(view, filled)
            if answer.finish_reason != "length":  # a cut reply says nothing
                self._wishes_met.add("ignored")
        return self._format.read(view, answer.text)

    def _suspicion(
        self, view: RoleView, action: Action, answer: Answer, granted: bool
    ) -> dict[str, float] | None:
        agents = view.rules.agents
        if self._format.name == "menu" and granted:
            first = first_words(answer.logprobs)
            replies = self._format.replies(view)
            # A first word that is not a label ("I think ...") says nothing about labels.
            is_label = bool(first) and not isinstance(action, Unreadable)
            if is_label and not _has_whole_labels(first, answer.text, replies):
                self._wishes_met.add("splits labels in")
            else:
                self._wishes_met.add("kept" if first else "ignored")
                if is_label:
                    return _weigh_flags(view, first, replies)
        if isinstance(action, FlagRogue) and action.target in agents:
            return dict.fromkeys(agents, 0.0) | {action.target: action.confidence}
        return None


def _why_lost(problem: EndpointDown | EndpointRefused) -> str:
    """The same text in every run, because it is recorded and other roles may read it."""
    if isinstance(problem, EndpointRefused):
        return f"the endpoint refused this prompt with HTTP {problem.status}"
    return "the endpoint does not answer this prompt, and answers others"


def _response_format(schema: Schema) -> dict[str, Any]:
    form = {"name": "action", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def _kept(reply: str) -> str:
    """The recorded part of a reply. A reply that was too long is cut with a mark that keeps it too
    long, so that its beginning is never read as a valid reply."""
    return reply if len(reply) <= MAX_REPLY_CHARS else reply[:MAX_REPLY_CHARS] + _CUT


def _with_correction(chat: Chat, reply: str, problem: Unreadable) -> Chat:
    correction = f"That reply could not be read ({problem.error}): {problem.detail}."
    return (
        *chat,
        {"role": "assistant", "content": reply or "(nothing)"},
        {"role": "user", "content": correction},
    )


def _has_whole_labels(first: Mapping[str, float], reply: str, labels: Iterable[str]) -> bool:
    """Whether the first tokens are whole labels. Otherwise one could begin several of them."""
    longer = [label for label in labels if len(label) > 1]
    return not longer or (label_of(reply) in first and any(label in first for label in longer))


def _weigh_flags(
    view: RoleView, first: Mapping[str, float], replies: Mapping[str, Action]
) -> dict[str, float] | None:
    total = sum(weight for word, weight in first.items() if word in replies)
    if not total > 0:
        return None
    weighed = ((action, first.get(label, 0.0) / total) for label, action in replies.items())
    return suspicion_of(view, weighed)
