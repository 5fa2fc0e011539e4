"""The policies a visitor may choose from: a fixed list, each loaded once, on first use.

Models are loaded and asked on one thread of their own, in the order of asking: however many
visitors there are, one model is in memory once and nobody overtakes anybody.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, NamedTuple

from chaosops.core.decision import Decision
from chaosops.core.errors import ChaosOpsError, UnknownName
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.policies.registry import load_policy, registered
from chaosops.web.discretion import without_folders
from chaosops.web.stage import place_at_work
from chaosops.web.wire import status_words

log = logging.getLogger(__name__)


class Entry(NamedTuple):
    """``spec`` is what the registry is asked for; visitors only ever send ``name``."""

    name: str
    words: str
    spec: str = ""
    is_model: bool = False
    knows_truth: bool = False


ENTRIES = (
    Entry("trained", "the model after training in this world", is_model=True),
    Entry("local:smollm2", "the same small model, untrained", is_model=True),
    *(
        Entry(name, policy.help, knows_truth=policy.sees_truth)
        for name, policy in registered().items()
        if policy.on_page
    ),
)


class Unavailable(ChaosOpsError):
    """A policy that cannot be loaded; no number may stand under its name."""


class Shelf:
    def __init__(self, entries: Iterable[Entry] = ENTRIES) -> None:
        self._entries = {entry.name: entry for entry in entries}
        self._loaded: dict[str, Policy] = {}
        self._why: dict[str, str] = {}
        self._ordered: dict[str, Future[Policy | Unavailable]] = {}
        self._lock = Lock()
        self._desk = ThreadPoolExecutor(1, thread_name_prefix="chaosops-model")

    def check(self, name: str) -> Entry:
        if name not in self._entries:
            raise UnknownName("policy", name, self._entries)
        return self._entries[name]

    def takes_time(self, name: str) -> bool:
        """Whether it has still to be loaded, and that will be noticed."""
        return self.check(name).is_model and name not in self._loaded

    def load(self, name: str) -> Policy:
        """What is there already, or takes no time."""
        return self._loaded.get(name) or self._fetch(self.check(name))

    async def arrival(self, name: str) -> Policy:
        """Waits for a model. However many wait, it is loaded once, and goes on being loaded when
        they go away. A failure is not kept: its cure may have come since."""
        entry = self.check(name)
        with self._lock:
            ordered = self._ordered.get(name)
            if ordered is None or (ordered.done() and name not in self._loaded):
                ordered = self._ordered[name] = self._desk.submit(self._try, entry)
        waiting = asyncio.wrap_future(ordered)
        await asyncio.wait([waiting])
        found = waiting.result()
        if isinstance(found, Unavailable):
            raise found
        return found

    def states(self) -> list[dict[str, Any]]:
        """What the page says beside each name before anything is played."""
        return [self._state(entry) for entry in self._entries.values()]

    def _try(self, entry: Entry) -> Policy | Unavailable:
        try:
            return self._fetch(entry)
        except Unavailable as error:
            return error

    def _fetch(self, entry: Entry) -> Policy:
        try:
            policy = load_policy(entry.spec or entry.name)
        except ChaosOpsError as error:
            log.warning("policy %s cannot be loaded: %s", entry.name, error)
            why = without_folders(str(error))
            self._why[entry.name] = why
            raise Unavailable(why) from None
        except Exception as error:
            log.exception("policy %s cannot be loaded", entry.name)
            why = f"{type(error).__name__} while loading; the server's log has the details"
            self._why[entry.name] = why
            raise Unavailable(why) from None
        self._why.pop(entry.name, None)
        self._loaded[entry.name] = AtDesk(policy, self._desk) if entry.is_model else policy
        return self._loaded[entry.name]

    def _state(self, entry: Entry) -> dict[str, Any]:
        state: dict[str, Any] = {
            "name": entry.name,
            "words": entry.words,
            "knows_truth": entry.knows_truth,
        }
        if policy := self._loaded.get(entry.name):
            return {**state, "state": "ready", "status": status_words(policy.status())}
        if why := self._why.get(entry.name):
            return {**state, "state": "unavailable", "why": why}
        return {**state, "state": "not loaded"}


class AtDesk:
    """A policy that is only ever asked on the models' thread."""

    def __init__(self, policy: Policy, desk: Executor) -> None:
        self._policy = policy
        self._desk = desk

    @property
    def name(self) -> str:
        return self._policy.name

    @property
    def sees_truth(self) -> bool:
        return self._policy.sees_truth

    def decide(self, requests: Sequence[DecisionRequest]) -> Sequence[Decision]:
        queued = self._desk.submit(self._policy.decide, requests)
        place = place_at_work.get()
        return queued.result() if place is None else place.await_turn(queued)

    def status(self) -> Mapping[str, Any]:
        return self._policy.status()
