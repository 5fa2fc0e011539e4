"""What a worker does, wherever it lives."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.policies.llm.threads import VARIABLE
from chaosops.workers.identity import require_same

# Answers are plain data. Not every exception survives pickling.
Answer = tuple[str, Any]
RESULT, REFUSED, FAILED = "result", "refused", "failed"

_listener: Callable[[int], None] = lambda count: None  # noqa: E731


class WorkerFailed(Exception):
    """An error that is not the user's, with the traceback of the worker."""


def no_setup() -> None:
    """Workers that need none are set up with this: unlike a lambda, it can be pickled."""


def tell_driver(count: int) -> None:
    """Called by work in a worker: so much more is done."""
    _listener(count)


def start(
    driver: Mapping[str, str],
    setup: Callable[[], None],
    threads: int,
    listener: Callable[[int], None],
) -> Answer:
    """``threads``: the share of a worker in the cores of its machine."""
    global _listener
    _listener = listener
    for variable in (VARIABLE, "OMP_NUM_THREADS"):
        os.environ.setdefault(variable, str(threads))

    def prepare() -> None:
        require_same(driver)
        setup()

    return answer(prepare, [])


def answer(function: Callable[..., Any], args: Sequence[Any]) -> Answer:
    try:
        return RESULT, function(*args)
    except ChaosOpsError as error:
        return REFUSED, str(error)
    except Exception:
        return FAILED, traceback.format_exc()


def result_of(answered: Answer) -> Any:
    """In the driver: the result, or the error."""
    kind, value = answered
    if kind == REFUSED:
        raise BadInput(value)
    if kind == FAILED:
        raise WorkerFailed(f"in a worker:\n{value}")
    return value
