"""Chat completions of an OpenAI-compatible server, with retries.

A temporary fault (no connection, no answer in time, 429, 5xx, a broken answer) is retried until
the endpoint has failed for ``patience_s``. A permanent fault (a wrong key, a wrong model) is an
error at once. Retries change when a reply comes, never which reply.

The ``openai`` package is not used: it takes four times as long to import as httpx, reads and
unpacks answers of any size, and limits the number of retries instead of their time.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from chaosops.core.dice import Dice
from chaosops.core.errors import BadInput, ChaosOpsError, MissingExtra
from chaosops.policies.llm.answers import (
    KEY_VARIABLES,
    Answer,
    Fault,
    clean,
    deepest_cause,
    error_message,
    read_answer,
    retry_after_s,
)
from chaosops.policies.llm.connections import connections
from chaosops.policies.llm.pace import Pace
from chaosops.policies.llm.spec import ModelSpec

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 10.0
HICCUP_S = 1.0  # shorter faults are not printed
CONNECT_S = 10.0
MOST_AT_ONCE = 64
MAX_ANSWER_BYTES = 8_000_000
PASSING = frozenset({408, 409, 425, 429})  # and every 5xx
TOO_MANY = frozenset({429, 503, 529})  # the server asks for fewer requests

T = TypeVar("T")


class EndpointDown(ChaosOpsError):
    """The endpoint failed for longer than the run's patience."""


class EndpointRefused(ChaosOpsError):
    """The endpoint answered, and asking again would not help."""

    def __init__(self, status: int, text: str, said: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.said = said  # the server's own words


def check_url(url: str) -> str:
    """The address up to ``/v1``. It must not hold a secret, because results files contain it.

    >>> check_url("http://127.0.0.1:8080/v1/")
    'http://127.0.0.1:8080/v1'
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host:
        raise BadInput("the endpoint's URL has no usable host and port; write http://HOST:PORT/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise BadInput(
            "the endpoint's URL must not hold a user, password or query, because results contain "
            f"it; set {KEY_VARIABLES[0]} and write {parts.scheme}://{host}/..."
        )
    return url.rstrip("/").removesuffix("/chat/completions").rstrip("/")


def _authorization() -> dict[str, str]:
    """The header with the key. The key is read for each request and not stored."""
    for variable in KEY_VARIABLES:
        if key := os.environ.get(variable, "").strip():
            # The error of an HTTP library would show a header that cannot be sent.
            if not re.fullmatch(r"[!-~]+", key):
                raise BadInput(f"{variable} holds characters that a key cannot have; set it again")
            return {"Authorization": f"Bearer {key}"}
    return {}


class ChatClient:
    """Asks one model. All clients share the connections of their process."""

    def __init__(self, spec: ModelSpec) -> None:
        try:
            import httpx  # noqa: F401
        except ImportError:
            raise MissingExtra("asking an endpoint", "httpx", "endpoints") from None
        self.url = check_url(spec.url)  # first: other errors show the spec with its secrets
        self.concurrency = int(spec.number("concurrency", MOST_AT_ONCE, least=1))
        self._address = f"{self.url}/chat/completions"
        self._model = spec.model
        self._timeout_s = spec.number("timeout", 60.0, least=0.1)
        self._patience_s = spec.number("patience", 600.0)
        self._failing: set[object] = set()
        self._outage_since: float | None = None

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Wait for work that calls ``complete``. Ctrl-C cancels it."""
        future = asyncio.run_coroutine_threadsafe(work(), connections().loop)
        try:
            return future.result()
        finally:
            future.cancel()

    async def complete(
        self, question: Mapping[str, Any], key: int, patience_s: float | None = None
    ) -> Answer:
        """``key`` seeds the jitter of the pauses, so that many requests do not return at once."""
        content = json.dumps(question).encode()
        dice = Dice(key)
        pace = connections().pace(self.url, self._model, self.concurrency)
        patience_s = self._patience_s if patience_s is None else patience_s
        since: float | None = None
        until = time.monotonic() + patience_s
        tries = 0
        me = object()
        try:
            while True:
                tries += 1
                try:
                    async with pace.slot(until) as started:
                        if since is None:  # waiting for a slot is no fault of the server
                            since, until = started, started + patience_s
                        answer = await self._try(content, pace, started)
                except Fault as fault:
                    assert since is not None
                    wait_s = self._pause_s(fault, since, until, tries, dice)
                    self._failing.add(me)
                    await asyncio.sleep(wait_s)
                else:
                    self._print_recovery(me)
                    return answer
        finally:
            self._failing.discard(me)

    def _pause_s(self, fault: Fault, since: float, until: float, tries: int, dice: Dice) -> float:
        now = time.monotonic()
        left = until - now
        if left <= 0:
            raise EndpointDown(
                f"POST {self._address} failed {tries} times in {now - since:.0f} s, at last: "
                f"{fault}; see to the endpoint and run it again (chaosops eval: with --resume)"
            ) from None
        wait: float = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(tries - 1, 10))
        wait *= 0.5 + 0.5 * dice.unit()
        wait = min(wait + (fault.retry_after_s or 0.0), left)
        if self._outage_since is None and now + wait - since >= HICCUP_S:
            self._outage_since = since
            tell(
                f"endpoint {self.url} does not answer ({fault}): "
                f"waiting, up to {self._patience_s:.0f} s"
            )
        return wait

    def _print_recovery(self, me: object) -> None:
        if self._outage_since is not None and self._failing <= {me}:
            lasted = time.monotonic() - self._outage_since
            self._outage_since = None
            tell(f"endpoint {self.url} answers again after {lasted:.0f} s")

    async def _try(self, content: bytes, pace: Pace, started: float) -> Answer:
        import httpx

        try:
            # httpx limits each read: a body that trickles would pass all of its limits.
            async with asyncio.timeout(self._timeout_s):
                status, headers, body = await self._post(content)
        except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout):
            pace.refused(started)
            raise Fault(f"no whole answer within {self._timeout_s:g} s") from None
        except (httpx.TransportError, httpx.DecodingError) as problem:
            raise Fault(clean(deepest_cause(problem))) from None
        if 200 <= status < 300:
            pace.answered(started)
            return read_answer(body)
        said = clean(error_message(body))
        if (status in PASSING or status >= 500) and "insufficient_quota" not in said:
            wait_s = retry_after_s(headers)
            if status in TOO_MANY:
                pace.refused(started, wait_s)
            raise Fault(f"HTTP {status} {said}".rstrip(), wait_s)
        raise EndpointRefused(status, self._refusal(status, headers, said), said) from None

    async def _post(self, content: bytes) -> tuple[int, Mapping[str, str], bytes]:
        import httpx

        head = _authorization()
        timeout = httpx.Timeout(self._timeout_s, connect=min(CONNECT_S, self._timeout_s))
        async with (
            connections()
            .pool(self.url)
            .stream("POST", self._address, content=content, headers=head, timeout=timeout)
        ) as response:
            # A few packed bytes can unpack to gigabytes: nothing is unpacked.
            packed = response.headers.get("content-encoding", "identity").strip().lower()
            if packed not in ("", "identity"):
                if response.is_success:
                    packed = clean(packed, 40)
                    raise Fault(f"an answer packed with {packed}, which was not asked for")
                return response.status_code, response.headers, b""
            body = bytearray()
            async for part in response.aiter_raw():
                body += part
                if len(body) > MAX_ANSWER_BYTES:
                    raise Fault(f"an answer of more than {MAX_ANSWER_BYTES} bytes")
            return response.status_code, response.headers, bytes(body)

    def _refusal(self, status: int, headers: Mapping[str, str], said: str) -> str:
        answer = f"POST {self._address} answered {status}" + (f": {said}" if said else "")
        if 300 <= status < 400:
            there = clean(headers.get("location", "elsewhere"))
            return f"{answer}; it points to {there}: write that address if you trust it"
        if status in (401, 403):
            found = [name for name in KEY_VARIABLES if os.environ.get(name, "").strip()]
            sent = f"the key in {found[0]} was sent" if found else "no key was sent"
            return f"{answer}; {sent}, set {' or '.join(KEY_VARIABLES)} to one that may ask"
        if status == 404:
            return (
                f"{answer}; model {self._model!r} or the URL {self.url} is wrong: "
                "write openai:MODEL@URL with the URL up to /v1"
            )
        return answer


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
