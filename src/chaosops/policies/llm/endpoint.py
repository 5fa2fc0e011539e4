"""A model behind an OpenAI-compatible endpoint, in any role: ``openai:MODEL@URL``.

Suspicion is what the model said, and nothing where it said nothing:

- menu: the probabilities of the flags' labels among all labels in the likeliest first tokens
  that the server reports (``top_logprobs``); a flag that is not among them counts as 0.
- json, and a server without logprobs: a flag's own confidence (1 where it names none), and 0
  for the other agents; a turn that flags nobody tells nothing.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from chaosops.core.actions import VERBS, Action, FlagRogue, Unreadable, failed_turn
from chaosops.core.decision import Chat, Decision, Exchange
from chaosops.core.errors import BadInput
from chaosops.core.vocabulary import Role
from chaosops.policies.chat import with_accusations
from chaosops.policies.llm.formats import json_text, load_format
from chaosops.policies.llm.http_chat import (
    Answer,
    ChatClient,
    EndpointDown,
    EndpointRefused,
    check_url,
    run_blocking,
    tell,
)
from chaosops.policies.llm.spec import ModelSpec
from chaosops.policies.protocol import DecisionRequest
from chaosops.roles.parse import MAX_REPLY_CHARS
from chaosops.roles.schema import Schema, action_schema
from chaosops.roles.view import RoleView

if TYPE_CHECKING:
    import httpx

ATTEMPTS = 2  # the second one shows the model what was wrong with its first reply
MAX_TOKENS = {"json": 300, "menu": 8}
MESSAGE_CHARS = 120  # a small model that has to fill in a text may never find its end
OPTIONS = ("format", "temperature", "timeout", "patience", "concurrency", "price")
TOP_LOGPROBS = 20  # the most that the API gives
_CUT = "…"
MOST_REVISIONS = 8  # a server could name a new one with every answer
_OF_THE_PROMPT = frozenset({400, 413, 422})  # refusals that may concern one prompt alone


class EndpointPolicy:
    sees_truth = False

    def __init__(self, spec: ModelSpec) -> None:
        check_url(spec.url)  # first of all: other errors show the spec, which may hold a password
        self._client = ChatClient(
            spec.url,
            spec.model,
            timeout_s=spec.number("timeout", 60.0, least=0.1),
            patience_s=spec.number("patience", 600.0),
        )
        self.name = spec.text
        if foreign := [option for option in spec.options if option not in OPTIONS]:
            raise BadInput(
                f"an endpoint takes no {foreign[0]}, got {spec.text!r}; "
                f"its options are {', '.join(OPTIONS)}"
            )
        self._model = spec.model
        self._format = load_format(spec.options.get("format", "json"))
        self._temperature = spec.number("temperature", 0.0)
        self._concurrency = int(spec.number("concurrency", 8, least=1))
        self._price = read_price(spec.options.get("price"))
        self._granted: dict[str, int] = {}  # how much of its wishes the server granted at first
        self._wishes_met: set[str] = set()
        self._revisions: set[str] = set()
        self._usage_reported: bool | None = None

    def status(self) -> Mapping[str, Any]:
        """What the replies depend on, and what they showed: the same with and without outages."""
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
            "usage": {None: None, True: "reported", False: "usage not reported"}[
                self._usage_reported
            ],
            "price_usd_per_million": self._price and list(self._price),
        }

    def _revision(self) -> str | None:
        """In alphabetical order: which answer came first depends on a race."""
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

    def usage(self) -> dict[str, float]:
        """What the run took so far: this does depend on outages, so it is not in the status."""
        used: dict[str, float] = asdict(self._client.usage)
        if self._price:
            per_read, per_written = self._price
            used["cost_usd"] = (
                used["tokens_read"] * per_read + used["tokens_written"] * per_written
            ) / 1e6
        return used

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        return run_blocking(self._decide_all(requests)) if requests else []

    async def _decide_all(self, requests: Sequence[DecisionRequest]) -> list[Decision]:
        slots = asyncio.Semaphore(self._concurrency)
        async with self._client.connected(self._concurrency) as http:
            # The first goes alone and finds out what the server can do: what is remembered
            # depends on no race between the others.
            alone = self._wishes(requests[0].view)[0] not in self._granted
            decided = [
                await self._decide(http, slots, request) for request in requests[: int(alone)]
            ]
            rest = requests[len(decided) :]
            tasks = [asyncio.create_task(self._decide(http, slots, request)) for request in rest]
            try:
                return decided + await asyncio.gather(*tasks)
            finally:
                # One has failed for good, or Ctrl-C: the others need not go on.
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _decide(
        self, http: httpx.AsyncClient, slots: asyncio.Semaphore, request: DecisionRequest
    ) -> Decision:
        view = request.view
        chat = self._format.messages(view)
        read = written = attempts = 0
        came_back = False
        while True:
            attempts += 1
            try:
                async with slots:
                    answer, granted = await self._ask(http, request, chat)
            except (EndpointDown, EndpointRefused) as problem:
                if not await self._answers_others(http, request, problem):
                    raise
                if isinstance(problem, EndpointDown) and not came_back:
                    came_back, attempts = True, attempts - 1  # perhaps it was an outage after all
                    continue
                # The words of a server, which may hold anything, stay out of the world.
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
        self,
        http: httpx.AsyncClient,
        request: DecisionRequest,
        problem: EndpointDown | EndpointRefused,
    ) -> bool:
        """Is it this one prompt that fails (too long, filtered, never ends), and no other?

        A player whose words get into a prompt must not be able to end the run.
        """
        if isinstance(problem, EndpointRefused) and problem.status not in _OF_THE_PROMPT:
            return False
        question = self._question(({"role": "user", "content": "Say yes."},), request.key)
        try:
            await self._client.complete(http, question, request.key, patience_s=0.0)
        except (EndpointDown, EndpointRefused):
            return False
        return True

    def _question(self, chat: Chat, key: int) -> dict[str, Any]:
        return {
            "model": self._model,
            "messages": list(chat),
            "temperature": self._temperature,
            "seed": key % 2**31,
            "max_tokens": MAX_TOKENS[self._format.name],
        }

    async def _ask(
        self, http: httpx.AsyncClient, request: DecisionRequest, chat: Chat
    ) -> tuple[Answer, bool]:
        """The answer, and whether the server was willing to do what was wished for."""
        question = self._question(chat, request.key)
        kind, wishes = self._wishes(request.view)
        level = self._granted.get(kind, 0)
        while True:
            try:
                answer = await self._client.complete(http, question | wishes[level], request.key)
                break
            except EndpointRefused as refusal:
                # What the server dislikes may be the wish; the last question has none.
                if refusal.status not in (400, 422) or level + 1 == len(wishes):
                    raise
                level += 1
        self._granted.setdefault(kind, level)
        granted = level + 1 < len(wishes)
        if kind and not granted:
            self._wishes_met.add("refused")
        return answer, granted

    def _wishes(self, view: RoleView) -> tuple[str, list[dict[str, Any]]]:
        """What a server may not know how to do, from best to nothing."""
        if self._format.name == "json":
            forms = [action_schema(view.rules, view.role, chars) for chars in (MESSAGE_CHARS, None)]
            return "json_schema", [*map(_response_format, forms), {}]
        if view.role is Role.OVERSIGHT:
            return "logprobs", [{"logprobs": True, "top_logprobs": TOP_LOGPROBS}, {}]
        return "", [{}]

    def _note(self, answer: Answer) -> None:
        if answer.revision:
            self._revisions.add(answer.revision)
        told = answer.tokens_read is not None and answer.tokens_written is not None
        self._usage_reported = told and self._usage_reported is not False

    def _read(self, view: RoleView, answer: Answer, granted: bool) -> Action:
        if self._format.name == "json" and granted:
            filled = filled_in(answer.text, action_schema(view.rules, view.role))
            if filled is not None:
                self._wishes_met.add("kept")
                return self._format.read(view, filled)
            if answer.finish_reason != "length":  # a reply cut short proves nothing
                self._wishes_met.add("ignored")
        return self._format.read(view, answer.text)

    def _suspicion(
        self, view: RoleView, action: Action, answer: Answer, granted: bool
    ) -> dict[str, float] | None:
        agents = view.rules.agents
        if self._format.name == "menu" and granted:
            first = _likeliest_first(answer.logprobs)
            self._wishes_met.add("kept" if first else "ignored")
            # A first word that is no label ("I think ...") weighs no labels.
            if first and not isinstance(action, Unreadable):
                weighed = _weigh_flags(first, self._format.replies(view))
                return weighed and with_accusations(view, weighed)
        if isinstance(action, FlagRogue) and action.target in agents:
            return dict.fromkeys(agents, 0.0) | {action.target: action.confidence}
        return None


def _why_lost(problem: EndpointDown | EndpointRefused) -> str:
    """The same in every run: it is recorded, and other roles may read it."""
    if isinstance(problem, EndpointRefused):
        return f"the endpoint refused this prompt with HTTP {problem.status}"
    return "the endpoint does not answer this prompt, and answers others"


def read_price(text: str | None) -> tuple[float, float] | None:
    """
    >>> read_price("0.15/0.60")
    (0.15, 0.6)
    """
    if text is None:
        return None
    number = r"(\d+(?:\.\d*)?|\.\d+)"
    match = re.fullmatch(f"{number}/{number}", text, re.ASCII)
    if not match:
        raise BadInput(
            f"price={text}: expected US dollars per million tokens, read/written, such as 0.15/0.60"
        )
    return float(match[1]), float(match[2])


def _response_format(schema: Schema) -> dict[str, Any]:
    form = {"name": "action", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def filled_in(reply: str, schema: Schema) -> str | None:
    """What the model chose to say in a form that made it fill in every field; None where the
    reply is not in that form."""
    if len(reply) > MAX_REPLY_CHARS:
        return None
    try:
        data = json.loads(reply)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.keys() != schema["properties"].keys():
        return None
    verb = data["action"]
    if verb not in schema["properties"]["action"]["enum"]:
        return None
    used = {"action", *(argument.name for argument in VERBS[verb].arguments)}
    return json_text({k: v for k, v in data.items() if k in used and v is not None})


def _kept(reply: str) -> str:
    """As much of a reply as is read and recorded. The mark makes what is left of a reply that was
    too long one character too long, so that it is never read as another reply."""
    return reply if len(reply) <= MAX_REPLY_CHARS else reply[:MAX_REPLY_CHARS] + _CUT


def _with_correction(chat: Chat, reply: str, problem: Unreadable) -> Chat:
    correction = f"That reply could not be read ({problem.error}): {problem.detail}."
    return (
        *chat,
        {"role": "assistant", "content": reply or "(nothing)"},
        {"role": "user", "content": correction},
    )


def _likeliest_first(logprobs: Any) -> dict[str, float]:
    """First words with their probabilities; empty where the server sent nothing usable."""
    found: dict[str, float] = {}
    try:
        first = next(place for place in logprobs["content"] if place["token"].strip())
        for option in first["top_logprobs"]:
            word, logprob = option["token"].strip(), option["logprob"]
            if isinstance(logprob, bool) or not math.isfinite(logprob):
                return {}
            found[word] = found.get(word, 0.0) + math.exp(min(0.0, logprob))
    except (KeyError, TypeError, AttributeError, StopIteration, OverflowError):
        return {}  # an overflow: a whole number that is too large for a float
    return found


def _weigh_flags(
    first: Mapping[str, float], replies: Mapping[str, Action]
) -> dict[str, float] | None:
    if any(len(label) > 1 for label in replies):
        return None  # a first token might begin several labels
    total = sum(weight for word, weight in first.items() if word in replies)
    if not total > 0:
        return None
    # Six digits: more would be noise of the arithmetic, not an opinion.
    return {
        action.target: round(first.get(label, 0.0) / total, 6)
        for label, action in replies.items()
        if isinstance(action, FlagRogue)
    }
