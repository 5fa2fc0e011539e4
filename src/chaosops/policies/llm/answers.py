"""Reads an endpoint's answer without trusting it: bounded numbers, clean text, no keys."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from chaosops.policies.llm.reasoning import end_of_reasoning

KEY_VARIABLES = ("CHAOSOPS_API_KEY", "OPENAI_API_KEY")
MAX_TOKENS_TOLD = 10**9  # a larger count for one answer is ignored


class Fault(Exception):
    """A temporary failure."""

    def __init__(self, cause: str, retry_after_s: float | None = None) -> None:
        super().__init__(cause)
        self.retry_after_s = retry_after_s


class Answer(NamedTuple):
    text: str
    finish_reason: str
    tokens_read: int | None  # None: the server does not say
    tokens_written: int | None
    revision: str  # what the server calls the model and its build
    logprobs: Any  # as the server sent them
    reasoning_chars: int = 0  # in fields of their own; reasoning in the text is still in it


def read_answer(body: bytes) -> Answer:
    try:
        # NaN and infinity are not JSON and cannot be written to a results file.
        data = json.loads(body, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise Fault("an answer that is not JSON") from None
    try:
        choice = data["choices"][0]
        message = choice["message"]
        if isinstance(message, str):
            raise Fault("an answer whose message is text, not an object")
        text = _text_of(message.get("content"))
    except (KeyError, IndexError, TypeError, AttributeError):
        said = clean(error_message(body)) if isinstance(data, dict) and "error" in data else ""
        raise Fault("an answer without choices" + (f": {said}" if said else "")) from None
    if not isinstance(text, str | None):
        raise Fault("an answer whose content is not text")
    usage = data.get("usage")
    count = usage if isinstance(usage, dict) else {}
    names = [data.get("model"), data.get("system_fingerprint")]
    return Answer(
        # A lone surrogate cannot be written to a file.
        text=_without_keys(text or "").encode("utf-8", "replace").decode(),
        finish_reason=finish if isinstance(finish := choice.get("finish_reason"), str) else "",
        tokens_read=_token_count(count.get("prompt_tokens")),
        tokens_written=_token_count(count.get("completion_tokens")),
        revision=clean(" ".join(name for name in names if isinstance(name, str) and name)),
        logprobs=choice.get("logprobs"),
        reasoning_chars=_reasoning_chars(message),
    )


def _text_of(content: Any) -> Any:
    """Some servers send a list of parts, of which those of type text are the reply."""
    if not isinstance(content, list):
        return content
    parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(part["text"] for part in parts)


def _reasoning_chars(message: Mapping[str, Any]) -> int:
    """Servers name the field differently; some send the same text under both names."""
    texts = [message.get(name) for name in ("reasoning_content", "reasoning")]
    return max(len(text) if isinstance(text, str) else 0 for text in texts)


def _token_count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MAX_TOKENS_TOLD else None


def error_message(body: bytes) -> str:
    """The server's error message, from any of the fields that servers use."""
    text = body.decode("utf-8", "replace")
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return text
    if isinstance(data, dict):
        error = data.get("error") or data.get("detail") or data.get("message")
        if isinstance(error, dict):
            words = [error.get("message"), error.get("code")]
            return " ".join(dict.fromkeys(word for word in words if isinstance(word, str)))
        if isinstance(error, str):
            return error
    return text


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds, from a number or from a date."""
    text = headers.get("retry-after", "")
    try:
        seconds = float(text)
    except ValueError:
        try:
            then = parsedate_to_datetime(text)
        except ValueError:
            return None
        then = then if then.tzinfo else then.replace(tzinfo=UTC)
        seconds = (then - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def deepest_cause(problem: BaseException) -> str:
    """httpx wraps the system's error, whose message is clearer."""
    seen: BaseException | None = problem
    while seen is not None:
        if isinstance(seen, OSError) and seen.strerror:
            code = seen.errno or 0  # below 0: name resolution, which has its own messages
            return os.strerror(code) if code > 0 else seen.strerror
        if isinstance(seen, BaseExceptionGroup):
            return deepest_cause(seen.exceptions[0])
        seen = seen.__cause__ or seen.__context__
    return str(problem) or type(problem).__name__


def _without_keys(text: str) -> str:
    """A server may echo what it was sent."""
    for variable in KEY_VARIABLES:
        if key := os.environ.get(variable, "").strip():
            text = text.replace(key, f"({variable})")
    return text


def clean(text: str, limit: int = 300) -> str:
    """One short line without keys."""
    printable = (c if c.isprintable() else " " for c in _without_keys(text))
    line = " ".join("".join(printable).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


def first_words(logprobs: Any) -> dict[str, float]:
    """The likeliest first tokens and their probabilities. Empty if the server sent none."""
    found: dict[str, float] = {}
    try:
        for option in first_place(logprobs)["top_logprobs"]:
            word, logprob = option["token"].strip(), option["logprob"]
            if isinstance(logprob, bool) or not math.isfinite(logprob):
                return {}
            found[word] = found.get(word, 0.0) + math.exp(min(0.0, logprob))
    except (KeyError, TypeError, AttributeError, OverflowError):
        return {}  # an overflow: a whole number that is too large for a float
    return found


def first_place(logprobs: Any) -> Any:
    """The first token of the answer. Tokens of reasoning come before it, also where the server
    sends their text in a field of its own."""
    try:
        places = logprobs["content"]
        left = end_of_reasoning("".join(place["token"] for place in places))
        for place in places:
            if left <= 0 and place["token"].strip():
                return place
            left -= len(place["token"])
    except (KeyError, TypeError, AttributeError):
        pass
    return {}
