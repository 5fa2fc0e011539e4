"""Work on several workers: processes of this machine, or actors of a Ray cluster.

What a worker computes depends on its arguments alone. So it does not matter which worker does it,
and the work of one that was killed is done again. Results come in the order of the items.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from chaosops.core.errors import BadInput
from chaosops.workers.pool import Pool, Tally, in_order
from chaosops.workers.serving import no_setup, tell_driver

__all__ = ["HERE", "Engine", "Pool", "Tally", "in_order", "open_workers", "tell_driver"]


class Engine(NamedTuple):
    """Where work is done."""

    workers: int | None = None  # None: this process, or all that a cluster has room for
    ray: str | None = None  # the address of a Ray cluster; local: one of this machine
    gpus: float = 0.0  # of each worker, from Ray


HERE = Engine()
_MOST_PER_CORE = 4


@contextmanager
def open_workers(
    engine: Engine,
    setup: Callable[[], None] = no_setup,
    say: Callable[[str], None] = lambda line: None,
) -> Iterator[Pool | None]:
    """None for one process: the work is done in this one. ``setup`` is called once in each worker.
    On exit, pending work is dropped."""
    if engine.ray is not None:
        from chaosops.workers.on_ray import ray_workers

        opened = ray_workers(engine.ray, engine.workers, engine.gpus, setup, say)
        with opened as actors, Pool(actors) as pool:
            yield pool
        return
    if engine.gpus:
        raise BadInput("--gpus needs --ray, which gives each worker its own: add --ray local")
    if (engine.workers or 1) == 1:
        yield None
        return
    if (engine.workers or 1) > (most := max(16, _MOST_PER_CORE * (os.cpu_count() or 1))):
        raise BadInput(
            f"--workers {engine.workers}: this machine has {os.cpu_count()} cores, and more than "
            f"{most} processes would only wait for each other"
        )
    from chaosops.workers.processes import process_workers

    with process_workers(engine.workers or 1, setup) as processes, Pool(processes) as pool:
        yield pool
