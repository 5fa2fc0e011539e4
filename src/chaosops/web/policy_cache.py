"""The policies that visitors can choose: a fixed list, each loaded once, on first use.

One thread loads and asks all models, in the order of the requests. A model is in memory once,
however many visitors use it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, NamedTuple

from chaosops.core.decision import Decision
from chaosops.core.errors import ChaosOpsError, UnknownName
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.policies.registry import load_policy, registered
from chaosops.web.episode_pool import current_slot
from chaosops.web.redaction import redact_paths
from chaosops.web.wire import status_words

log = logging.getLogger(__name__)


class OfferedPolicy(NamedTuple):
    """Visitors send ``name``. The registry loads ``spec``, by default the same."""

    name: str
    words: str
    spec: str = ""
    is_model: bool = False
    knows_truth: bool = False


OFFERED = (
    OfferedPolicy("trained", "the model after training in this world", is_model=True),
    OfferedPolicy("local:smollm2", "the same small model, untrained", is_model=True),
    *(
        OfferedPolicy(name, policy.help, knows_truth=policy.sees_truth)
        for name, policy in registered().items()
        if policy.on_page
    ),
)


class Unavailable(ChaosOpsError):
    """A policy cannot be loaded. The page shows no number under its name."""


class PolicyCache:
    def __init__(self, offered: Iterable[OfferedPolicy] = OFFERED) -> None:
        self._offered = {policy.name: policy for policy in offered}
        self._loaded: dict[str, Policy] = {}
        self._why: dict[str, str] = {}
        self._loading: dict[str, Future[Policy | Unavailable]] = {}
        self._lock = Lock()
        self._model_thread = ThreadPoolExecutor(1, thread_name_prefix="chaosops-model")

    def check(self, name: str) -> OfferedPolicy:
        if name not in self._offered:
            raise UnknownName("policy", name, self._offered)
        return self._offered[name]

    def takes_time(self, name: str) -> bool:
        """Whether a model has still to be loaded."""
        return self.check(name).is_model and name not in self._loaded

    def load(self, name: str) -> Policy:
        """A policy that is loaded already, or a script."""
        return self._loaded.get(name) or self._fetch(self.check(name))

    async def wait_for(self, name: str) -> Policy:
        """Load a model once, however many visitors wait for it. Loading goes on when they leave.
        A failed attempt is repeated for the next visitor, as its cause may be gone."""
        offered = self.check(name)
        with self._lock:
            loading = self._loading.get(name)
            if loading is None or (loading.done() and name not in self._loaded):
                loading = self._loading[name] = self._model_thread.submit(self._try, offered)
        waiting = asyncio.wrap_future(loading)
        await asyncio.wait([waiting])
        found = waiting.result()
        if isinstance(found, Unavailable):
            raise found
        return found

    def states(self) -> list[dict[str, Any]]:
        """What the page shows beside each name before anything is played."""
        return [self._state(offered) for offered in self._offered.values()]

    def _try(self, offered: OfferedPolicy) -> Policy | Unavailable:
        try:
            return self._fetch(offered)
        except Unavailable as error:
            return error

    def _fetch(self, offered: OfferedPolicy) -> Policy:
        name = offered.name
        try:
            policy = load_policy(offered.spec or name)
        except Exception as error:
            if isinstance(error, ChaosOpsError):
                log.warning("policy %s cannot be loaded: %s", name, error)
                why = redact_paths(str(error))
            else:
                log.exception("policy %s cannot be loaded", name)
                why = f"{type(error).__name__} while loading; the server's log has the details"
            self._why[name] = why
            raise Unavailable(why) from None
        self._why.pop(name, None)
        self._loaded[name] = (
            QueuedPolicy(policy, self._model_thread) if offered.is_model else policy
        )
        return self._loaded[name]

    def _state(self, offered: OfferedPolicy) -> dict[str, Any]:
        state: dict[str, Any] = {
            "name": offered.name,
            "words": offered.words,
            "knows_truth": offered.knows_truth,
        }
        if policy := self._loaded.get(offered.name):
            return {**state, "state": "ready", "status": status_words(policy.status())}
        if why := self._why.get(offered.name):
            return {**state, "state": "unavailable", "why": why}
        return {**state, "state": "not loaded"}


class QueuedPolicy:
    """A policy that decides in the models' thread only."""

    def __init__(self, policy: Policy, thread: Executor) -> None:
        self.name = policy.name
        self.sees_truth = policy.sees_truth
        self.status = policy.status
        self._policy = policy
        self._thread = thread

    def decide(self, requests: Sequence[DecisionRequest]) -> Sequence[Decision]:
        queued = self._thread.submit(self._policy.decide, requests)
        slot = current_slot.get()
        return queued.result() if slot is None else slot.wait_for(queued)
