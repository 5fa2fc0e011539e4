"""Workers that are actors of a Ray cluster. Ray places them, starts them again when they are lost,
and gives them GPUs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from secrets import token_hex
from socket import create_connection, gethostname
from typing import Any

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.printable import one_line
from chaosops.workers.identity import identity
from chaosops.workers.pool import Tally
from chaosops.workers.serving import RESULT, Answer, answer, result_of, start

LOCAL = "local"
_CONNECT_S = 10.0
_POLL_S = 2.0
_FIRST_S, _OTHERS_S = 120.0, 30.0  # how long to wait for the first worker, and for the others
_RESTARTS = 10  # of an actor, and of one call

Say = Callable[[str], None]


@contextmanager
def ray_workers(
    address: str, count: int | None, gpus: float, setup: Callable[[], None], say: Say
) -> Iterator[list[RayWorker]]:
    """``count`` is None for all that the cluster has room for."""
    ray, is_ours = _connected(address)
    actors: list[Any] = []
    try:
        wanted = count or _room(ray, gpus)
        kind = ray.remote(_Actor).options(
            num_cpus=1,
            num_gpus=gpus,
            max_restarts=_RESTARTS,
            max_task_retries=_RESTARTS,
            max_concurrency=2,  # it tells its progress while it works
        )
        driver = identity()
        actors += [kind.remote(driver, setup) for _ in range(wanted)]
        yield _ready(ray, actors, say)
    except ray.exceptions.RayError as error:
        raise BadInput(f"Ray at {address}: {_cause(error)}") from None
    finally:
        for actor in actors:
            ray.kill(actor)
        if is_ours:
            ray.shutdown()  # a cluster goes on


class RayWorker:
    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray = ray
        self._actor = actor
        self._process = ""

    def call(self, tally: Tally, function: Callable[..., Any], *args: Any) -> Any:
        before = tally.told
        called = self._actor.call.remote(function, args)
        while not self._ray.wait([called], timeout=_POLL_S)[0]:
            tally.told = max(tally.told, before + self._told())
        answered, told, process = self._ray.get(called)
        tally.told = before + told
        tally.restarts += self._process not in ("", process)
        self._process = process
        return result_of(answered)

    def close(self) -> None:
        self._ray.kill(self._actor)

    def _told(self) -> int:
        """What the call that is being made has told. 0 while the actor is being started again."""
        try:
            return int(self._ray.get(self._actor.told.remote(), timeout=_POLL_S))
        except self._ray.exceptions.RayError:
            return 0


class _Actor:
    """Lives in a worker process of Ray."""

    def __init__(self, driver: Mapping[str, str], setup: Callable[[], None]) -> None:
        self._told = 0
        self._started = start(driver, setup, 1, self._count)

    def _count(self, count: int) -> None:
        self._told += count

    def ready(self) -> Answer:
        return self._started

    def told(self) -> int:
        return self._told

    def call(self, function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Answer, int, str]:
        """The answer, what was told, and the process that the actor lives in."""
        self._told = 0
        # After a restart it may live on another node, with other code.
        ready = self._started[0] == RESULT
        answered = answer(function, args) if ready else self._started
        return answered, self._told, f"{gethostname()} {os.getpid()}"


def _connected(address: str) -> tuple[Any, bool]:
    """Ray, and whether this connection is ours to end."""
    if address == LOCAL and "ray" not in sys.modules:  # it reads its settings when it is imported
        # Ray listens on every network of the machine, and runs the code of whoever may connect. So
        # a Ray of our own has a token that only its processes know, in no file.
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = token_hex(32)
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise MissingExtra("--ray", "ray", "ray", "use --workers N on this machine") from None
    if ray.is_initialized():
        found = ray.get_runtime_context().gcs_address
        if address not in (LOCAL, "auto", found):
            raise BadInput(f"this process uses Ray at {found} already: name it, or auto")
        return ray, False
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == LOCAL:
        quiet["include_dashboard"] = False
    try:
        _require_answer(address)
        ray.init(address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, ImportError, OSError) as error:
        raise BadInput(
            f"cannot connect to Ray at {address}: {_cause(error)}; name the address of a running "
            "cluster (ray start --head prints it), auto, or local to start one here"
        ) from None
    return ray, True


def _require_answer(address: str) -> None:
    """Ray itself waits for an address that does not answer, without an end."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        create_connection((host.strip("[]"), int(port)), _CONNECT_S).close()


def _room(ray: Any, gpus: float) -> int:
    """How many workers fit into the nodes, if nobody else uses them."""
    found = 0
    for node in ray.nodes():
        has = node["Resources"] if node["Alive"] else {}
        fitting = has.get("CPU", 0.0)
        found += int(min(fitting, has.get("GPU", 0.0) / gpus) if gpus else fitting)
    if not found:
        needs = f"1 CPU and {gpus:g} GPU" if gpus else "1 CPU"
        raise BadInput(f"no node of the Ray cluster has {needs} for a worker; lower --gpus")
    return found


def _ready(ray: Any, actors: list[Any], say: Say) -> list[RayWorker]:
    """The workers that Ray has started, without those it has no room for."""
    began = time.monotonic()
    starting = {actor.ready.remote(): actor for actor in actors}
    ready: list[Any] = []
    while len(ready) < len(actors):
        waited = time.monotonic() - began
        if waited > (_OTHERS_S if ready else _FIRST_S):
            break
        ready, _ = ray.wait(list(starting), num_returns=len(actors), timeout=1.0)
    if not ready:
        raise BadInput(f"Ray started no worker in {_FIRST_S:.0f} s; is the cluster in use?")
    for reference in ready:
        result_of(ray.get(reference))
    if len(ready) < len(actors):
        say(f"Ray has room for {len(ready)} of {len(actors)} workers; going on with these")
    for reference in set(starting) - set(ready):
        ray.kill(starting[reference])
    return [RayWorker(ray, starting[reference]) for reference in ready]


def _cause(error: Exception) -> str:
    """The last line says what happened; those before are a traceback."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return one_line(lines[-1].strip()[:300]) if lines else type(error).__name__
