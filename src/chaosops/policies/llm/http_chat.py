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
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from chaosops.core.dice import Dice
from chaosops.core.errors import BadInput, ChaosOpsError, MissingExtra
from chaosops.core.loopback import PROXY_VARIABLES, is_loopback
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
from chaosops.policies.llm.spec import ModelSpec

if TYPE_CHECKING:
    import httpx

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 10.0
HICCUP_S = 1.0  # shorter faults are not printed
CONNECT_S = 10.0
KEPT_S = 2.0  # many servers close an idle connection after 5 s, maybe while a request is sent
MAX_ANSWER_BYTES = 8_000_000
PASSING = frozenset({408, 409, 425, 429})  # and every 5xx

T = TypeVar("T")


class EndpointDown(ChaosOpsError):
    """The endpoint failed for longer than the run's patience."""


class EndpointRefused(ChaosOpsError):
    """The endpoint answered, and asking again would not help."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


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
    """Runs on an event loop in a thread of its own. Its connections are kept between calls, and
    the caller may run a loop of its own, as notebooks do."""

    def __init__(self, spec: ModelSpec) -> None:
        try:
            import httpx  # noqa: F401
        except ImportError:
            raise MissingExtra("asking an endpoint", "httpx", "endpoints") from None
        self.url = check_url(spec.url)  # first: other errors show the spec with its secrets
        self.concurrency = int(spec.number("concurrency", 8, least=1))
        self._address = f"{self.url}/chat/completions"
        self._model = spec.model
        self._timeout_s = spec.number("timeout", 60.0, least=0.1)
        self._patience_s = spec.number("patience", 600.0)
        self._failing: set[object] = set()
        self._outage_since: float | None = None
        self._starting = threading.Lock()
        self._started_in = 0
        self._http: httpx.AsyncClient
        self._loop: asyncio.AbstractEventLoop

    def _started(self) -> asyncio.AbstractEventLoop:
        """The loop of this process. A forked process has a copy of the loop but not its thread."""
        with self._starting:
            if self._started_in != os.getpid():
                self._http, self._loop = self._connect(), asyncio.new_event_loop()
                self._started_in = os.getpid()
                threading.Thread(target=_serve, args=(self._loop,), daemon=True).start()
                weakref.finalize(self, _close, self._http, self._loop, os.getpid())
            return self._loop

    def _connect(self) -> httpx.AsyncClient:
        import httpx

        try:
            return httpx.AsyncClient(
                headers={"Content-Type": "application/json", "Accept-Encoding": "identity"},
                timeout=httpx.Timeout(self._timeout_s, connect=min(CONNECT_S, self._timeout_s)),
                limits=httpx.Limits(max_connections=self.concurrency, keepalive_expiry=KEPT_S),
                trust_env=not is_loopback(self.url),
                # A cookie would connect an episode with those before it.
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            )
        except (httpx.InvalidURL, ValueError, ImportError) as error:
            raise BadInput(
                f"the proxy of {PROXY_VARIABLES} in the environment cannot be used: {error}"
            ) from None

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Wait for work that calls ``complete``. Ctrl-C cancels it."""
        loop = self._started()
        future = asyncio.run_coroutine_threadsafe(work(), loop)
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
        since = time.monotonic()
        until = since + (self._patience_s if patience_s is None else patience_s)
        tries = 0
        me = object()
        try:
            while True:
                tries += 1
                try:
                    answer = await self._try(content)
                except Fault as fault:
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
                f"{fault}; see to the endpoint and run it again: chaosops eval --resume goes on"
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

    async def _try(self, content: bytes) -> Answer:
        import httpx

        try:
            # httpx limits each read: a body that trickles would pass all of its limits.
            async with asyncio.timeout(self._timeout_s):
                status, headers, body = await self._post(content)
        except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout):
            raise Fault(f"no whole answer within {self._timeout_s:g} s") from None
        except (httpx.TransportError, httpx.DecodingError) as problem:
            raise Fault(clean(deepest_cause(problem))) from None
        if 200 <= status < 300:
            return read_answer(body)
        said = clean(error_message(body))
        if (status in PASSING or status >= 500) and "insufficient_quota" not in said:
            raise Fault(f"HTTP {status} {said}".rstrip(), retry_after_s(headers))
        raise EndpointRefused(status, self._refusal(status, headers, said)) from None

    async def _post(self, content: bytes) -> tuple[int, Mapping[str, str], bytes]:
        head = _authorization()
        async with self._http.stream(
            "POST", self._address, content=content, headers=head
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


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


def _close(http: httpx.AsyncClient, loop: asyncio.AbstractEventLoop, started_in: int) -> None:
    if started_in != os.getpid():
        return
    closing = asyncio.run_coroutine_threadsafe(http.aclose(), loop)
    closing.add_done_callback(lambda _: loop.call_soon_threadsafe(loop.stop))


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
