"""The policies that visitors can choose: a fixed list, each loaded once, on first use.

One thread loads and asks all models, in the order of the requests. A model is in memory once,
however many visitors use it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, NamedTuple, ParamSpec, TypeVar

from chaosops.core.decision import Decision
from chaosops.core.discovery import brought_by
from chaosops.core.errors import ChaosOpsError, UnknownName
from chaosops.policies.llm.trained_on import trained_on
from chaosops.policies.protocol import DecisionRequest, Policy
from chaosops.policies.registry import installed_policies, load_policy, registered
from chaosops.web.episode_pool import Unavailable, current_slot
from chaosops.web.redaction import redact_paths
from chaosops.web.wire import status_words

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")


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
    # Installed by whoever runs the server. They may be models, and are asked like these.
    *(
        OfferedPolicy(name, f"of {brought_by(points[0])}", is_model=True)
        for name, points in installed_policies().items()
    ),
)


class PolicyCache:
    def __init__(self, offered: Iterable[OfferedPolicy] = OFFERED) -> None:
        self._offered = {policy.name: policy for policy in offered}
        self._loading: dict[str, Future[Policy | Unavailable]] = {}
        self._model_thread = ThreadPoolExecutor(1, thread_name_prefix="chaosops-model")
        self._queue = ModelQueue(self._model_thread)
        self._script_thread = ThreadPoolExecutor(1, thread_name_prefix="chaosops-script")

    def check(self, name: str) -> OfferedPolicy:
        if name not in self._offered:
            raise UnknownName("policy", name, self._offered)
        return self._offered[name]

    def takes_time(self, name: str) -> bool:
        """Whether the model is not loaded yet."""
        return self.check(name).is_model and isinstance(self._found(name), Unavailable | None)

    async def load(self, name: str) -> Policy:
        """Load a policy once, however many visitors wait for it. Loading goes on when they leave.
        A failed attempt is repeated for the next visitor, as its cause may be gone."""
        offered = self.check(name)
        if name not in self._loading or isinstance(self._found(name), Unavailable):
            thread = self._model_thread if offered.is_model else self._script_thread
            self._loading[name] = thread.submit(self._fetch, offered)
        waiting = asyncio.wrap_future(self._loading[name])
        await asyncio.wait([waiting])
        found = waiting.result()
        if isinstance(found, Unavailable):
            raise found
        return found

    def states(self) -> list[dict[str, Any]]:
        """What the page shows beside each name before anything is played."""
        return [self._state(offered) for offered in self._offered.values()]

    def _found(self, name: str) -> Policy | Unavailable | None:
        """None if loading has not started or has not ended."""
        loading = self._loading.get(name)
        return loading.result() if loading and loading.done() else None

    def _fetch(self, offered: OfferedPolicy) -> Policy | Unavailable:
        """An error is returned: raised, it would be logged again when no visitor waits for it."""
        name = offered.name
        try:
            policy = load_policy(offered.spec or name)
        except ChaosOpsError as error:
            log.warning("policy %s cannot be loaded: %s", name, error)
            return Unavailable(redact_paths(str(error)))
        except Exception as error:
            log.exception("policy %s cannot be loaded", name)
            why = f"{type(error).__name__} while loading; the server's log has the details"
            return Unavailable(why)
        return QueuedPolicy(policy, self._queue) if offered.is_model else policy

    def _state(self, offered: OfferedPolicy) -> dict[str, Any]:
        state: dict[str, Any] = {
            "name": offered.name,
            "words": offered.words,
            "knows_truth": offered.knows_truth,
            "is_model": offered.is_model,
        }
        found = self._found(offered.name)
        if found is None:
            return {**state, "state": "not loaded"}
        if isinstance(found, Unavailable):
            return {**state, "state": "unavailable", "why": str(found)}
        return {**state, "state": "ready", "status": status_words(found.status())}


class ModelQueue:
    """The calls that wait for the models' thread, in their order."""

    def __init__(self, thread: Executor) -> None:
        self._thread = thread
        self._waiting: dict[Future[Any], None] = {}
        self._lock = Lock()

    def submit(self, job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        queued = self._thread.submit(job, *args, **kwargs)
        with self._lock:
            self._waiting[queued] = None
        queued.add_done_callback(self._forget)
        return queued

    def ahead_of(self, queued: Future[Any]) -> int:
        with self._lock:
            waiting = list(self._waiting)
        return waiting.index(queued) if queued in waiting else 0

    def _forget(self, queued: Future[Any]) -> None:
        with self._lock:
            self._waiting.pop(queued, None)


class QueuedPolicy:
    """A policy that decides in the models' thread only."""

    def __init__(self, policy: Policy, queue: ModelQueue) -> None:
        self.name = policy.name
        self.sees_truth = policy.sees_truth
        self.trained_on = trained_on(policy)
        self.status = policy.status
        self._policy = policy
        self._queue = queue

    def decide(self, requests: Sequence[DecisionRequest]) -> Sequence[Decision]:
        queued = self._queue.submit(self._policy.decide, requests)
        slot = current_slot.get()
        if slot is None:
            return queued.result()
        return slot.wait_for(queued, lambda: self._queue.ahead_of(queued))
