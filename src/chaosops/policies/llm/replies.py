"""What is done with a reply of an endpoint, and what a model is told about a bad one."""

from __future__ import annotations

from chaosops.core.actions import Unreadable
from chaosops.core.decision import Chat
from chaosops.policies.llm.answers import Answer
from chaosops.policies.llm.http_chat import EndpointDown, EndpointRefused
from chaosops.policies.llm.reasoning import Split, split_prose, split_reasoning
from chaosops.roles.parse import MAX_REPLY_CHARS

_CUT = "…"


def answer_alone(answer: Answer, format_name: str) -> Answer:
    """Without the reasoning before it, which is counted."""
    text, chars = split_answer(answer.text, format_name)
    return answer._replace(text=text, reasoning_chars=answer.reasoning_chars + chars)


def split_answer(reply: str, format_name: str) -> Split:
    """What a model answers, and how much it wrote before that."""
    text, chars = split_reasoning(reply)
    if format_name == "json":
        text, prose = split_prose(text)
        chars += prose
    return Split(_kept(text), chars)


def ends_in_reasoning(answer: Answer) -> bool:
    return answer.finish_reason == "length" and not answer.text.strip()


def _kept(reply: str) -> str:
    """The recorded part of a reply. A reply that was too long is cut with a mark that keeps it too
    long, so that its beginning is never read as a valid reply."""
    return reply if len(reply) <= MAX_REPLY_CHARS else reply[:MAX_REPLY_CHARS] + _CUT


def with_correction(chat: Chat, reply: str, problem: Unreadable) -> Chat:
    correction = f"That reply could not be read ({problem.error}): {problem.detail}."
    return (
        *chat,
        {"role": "assistant", "content": reply or "(nothing)"},
        {"role": "user", "content": correction},
    )


def why_lost(problem: EndpointDown | EndpointRefused) -> str:
    """The same text in every run, because it is recorded and other roles may read it."""
    if isinstance(problem, EndpointRefused):
        return f"the endpoint refused this prompt with HTTP {problem.status}"
    return "the endpoint does not answer this prompt, and answers others"
