"""Replies of endpoints on disk as soon as they come, so that a run that was stopped in the middle
of its episodes does not pay for them again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from chaosops.core.errors import BadInput
from chaosops.core.files import unwritable
from chaosops.policies.llm.answers import Answer, first_place

_KINDS = {
    "text": str,
    "finish_reason": str,
    "tokens_read": int | None,
    "tokens_written": int | None,
    "revision": str,
    "logprobs": object,
    "reasoning_chars": int,
}


class KeptReplies:
    def __init__(self, path: Path | None, *, resume: bool = False) -> None:
        """None keeps nothing. ``resume`` reads what an earlier run kept."""
        self._path = path
        self._answers = _read(path) if resume and path is not None else {}

    def get(self, url: str, question: Mapping[str, Any]) -> Answer | None:
        return self._answers.get(_name(url, question)) if self._answers else None

    def add(self, url: str, question: Mapping[str, Any], answer: Answer) -> None:
        if self._path is None:
            return
        # Of the logprobs nothing else is read, and the rest is long.
        logprobs = answer.logprobs and {"content": [first_place(answer.logprobs)]}
        kept = answer._replace(logprobs=logprobs)._asdict()
        line = json.dumps({"question": _name(url, question), "answer": kept})
        try:
            with self._path.open("ab") as file:
                file.write(line.encode() + b"\n")
        except OSError as error:
            raise unwritable(self._path, error) from None

    def forget(self) -> None:
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def _name(url: str, question: Mapping[str, Any]) -> str:
    content = json.dumps([url, question], sort_keys=True)
    return sha256(content.encode()).hexdigest()[:32]


def _read(path: Path) -> dict[str, Answer]:
    """A line that a kill cut is left out, and its question asked again."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None
    found = {}
    for line in lines:
        try:
            data = json.loads(line)
            name, answer = data["question"], Answer(**data["answer"])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        if all(isinstance(getattr(answer, field), kind) for field, kind in _KINDS.items()):
            found[name] = answer
    return found
