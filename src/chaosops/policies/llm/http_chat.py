"""One chat completion of an OpenAI-compatible server, through whatever goes wrong on the way.

What passes by itself (no connection, no answer in time, 429, 5xx, a broken answer) is tried
again until the endpoint has been out of order for ``patience_s``; what does not (a wrong key,
a wrong model) is an error at once. Waiting changes when a reply comes, never which.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from chaosops.core.dice import Dice
from chaosops.core.errors import BadInput, ChaosOpsError, MissingExtra
from chaosops.core.loopback import PROXY_VARIABLES, is_loopback

if TYPE_CHECKING:
    import httpx

KEY_VARIABLES = ("CHAOSOPS_API_KEY", "OPENAI_API_KEY")
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 10.0
HICCUP_S = 1.0  # shorter troubles are not worth a line on the screen
CONNECT_S = 10.0
MAX_ANSWER_BYTES = 8_000_000
MAX_TOKENS_TOLD = 10**9  # a server that reports more for one answer reports nothing
PASSING = frozenset({408, 409, 425, 429})  # and every 5xx

T = TypeVar("T")


class EndpointDown(ChaosOpsError):
    """The endpoint was out of order for longer than the run's patience."""


class EndpointRefused(ChaosOpsError):
    """The endpoint answered, and asking again would not help."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _Fault(Exception):
    """Something that may pass."""

    def __init__(self, cause: str, retry_after_s: float | None = None) -> None:
        super().__init__(cause)
        self.retry_after_s = retry_after_s


class Answer(NamedTuple):
    text: str
    finish_reason: str
    tokens_read: int | None  # None: the server does not say
    tokens_written: int | None
    revision: str  # what the server calls the model and its build
    logprobs: Any  # as the server sent them: to be read with suspicion


@dataclass
class Usage:
    """What a run has cost so far; an outage shows here and nowhere else."""

    requests: int = 0
    retries: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    waited_s: float = 0.0


def check_url(url: str) -> str:
    """The address up to ``/v1``; with a secret in it, it would stand in every results file.

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
            "the endpoint's URL may hold no user, password or query, because it stands in results; "
            f"set {KEY_VARIABLES[0]} and write {parts.scheme}://{host}/..."
        )
    return url.rstrip("/").removesuffix("/chat/completions").rstrip("/")


def _api_key() -> str:
    """Read when it is needed and kept nowhere."""
    for variable in KEY_VARIABLES:
        if key := os.environ.get(variable, "").strip():
            # A header that cannot be sent would be shown in the error of whoever tried.
            if not re.fullmatch(r"[!-~]+", key):
                raise BadInput(f"{variable} holds characters that no key has; set it again")
            return key
    return ""


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Wait for the work, in a notebook as well as in a script; Ctrl-C cancels it."""
    try:
        asyncio.get_running_loop()
        here = False
    except RuntimeError:
        here = True
    if here:
        return asyncio.run(work)
    # A loop runs here already and would not run another: take a thread of our own.
    started: Future[Callable[[], object]] = Future()

    async def cancellable() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        started.set_result(lambda: loop.call_soon_threadsafe(task.cancel))
        return await work

    with ThreadPoolExecutor(1) as elsewhere:
        result = elsewhere.submit(lambda: asyncio.run(cancellable()))
        try:
            return result.result()
        except KeyboardInterrupt:
            started.result()()
            raise


class ChatClient:
    def __init__(self, url: str, model: str, timeout_s: float, patience_s: float) -> None:
        try:
            import httpx
        except ImportError:
            raise MissingExtra("asking an endpoint", "httpx", "endpoints") from None
        self.url = check_url(url)
        self.usage = Usage()
        self._address = f"{self.url}/chat/completions"
        self._model = model
        self._timeout_s = timeout_s
        self._patience_s = patience_s
        self._trust_env = not is_loopback(self.url)
        self._tls = httpx.create_ssl_context(trust_env=self._trust_env)
        self._failing: set[object] = set()
        self._outage_since: float | None = None

    @asynccontextmanager
    async def connected(self, concurrency: int) -> AsyncIterator[httpx.AsyncClient]:
        import httpx

        key = _api_key()
        try:
            client = httpx.AsyncClient(
                headers={"Content-Type": "application/json", "Accept-Encoding": "identity"}
                | ({"Authorization": f"Bearer {key}"} if key else {}),
                timeout=httpx.Timeout(self._timeout_s, connect=min(CONNECT_S, self._timeout_s)),
                limits=httpx.Limits(max_connections=concurrency),
                verify=self._tls,
                trust_env=self._trust_env,
            )
        except (httpx.InvalidURL, ValueError, ImportError) as error:
            raise BadInput(
                f"the proxy of {PROXY_VARIABLES} in the environment cannot be used: {error}"
            ) from None
        async with client as http:
            yield http

    async def complete(
        self,
        http: httpx.AsyncClient,
        question: Mapping[str, Any],
        key: int,
        patience_s: float | None = None,
    ) -> Answer:
        """``key`` seeds the jitter of the waiting, so that many do not come back at once."""
        content = json.dumps(question).encode()
        dice = Dice(key)
        since = time.monotonic()
        tries = 0
        me = object()
        try:
            while True:
                tries += 1
                self.usage.requests += 1
                try:
                    answer = await self._try(http, content)
                except _Fault as fault:
                    until = since + (self._patience_s if patience_s is None else patience_s)
                    await self._wait(me, fault, since, until, tries, dice)
                else:
                    self._count(answer)
                    self._failing.discard(me)
                    self._announce_end()
                    return answer
        finally:
            self._failing.discard(me)

    async def _wait(
        self, me: object, fault: _Fault, since: float, until: float, tries: int, dice: Dice
    ) -> None:
        now = time.monotonic()
        left = until - now
        if left <= 0:
            raise EndpointDown(
                f"POST {self._address} failed {tries} times in {now - since:.0f} s, at last: "
                f"{fault}; see to the endpoint, then go on with chaosops eval --resume"
            ) from None
        wait = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(tries - 1, 10))
        wait *= 0.5 + 0.5 * dice.unit()
        if fault.retry_after_s is not None:
            wait += fault.retry_after_s
        wait = min(wait, left)
        self._failing.add(me)
        if self._outage_since is None and now + wait - since >= HICCUP_S:
            self._outage_since = since
            tell(
                f"endpoint {self.url} does not answer ({fault}): "
                f"waiting, up to {self._patience_s:.0f} s"
            )
        self.usage.retries += 1
        await asyncio.sleep(wait)
        self.usage.waited_s += wait

    def _announce_end(self) -> None:
        if self._outage_since is not None and not self._failing:
            lasted = time.monotonic() - self._outage_since
            self._outage_since = None
            tell(f"endpoint {self.url} answers again after {lasted:.0f} s")

    def _count(self, answer: Answer) -> None:
        self.usage.tokens_read += answer.tokens_read or 0
        self.usage.tokens_written += answer.tokens_written or 0

    async def _try(self, http: httpx.AsyncClient, content: bytes) -> Answer:
        import httpx

        try:
            # The library's own limits are per read: a body that trickles would pass them all.
            async with asyncio.timeout(self._timeout_s):
                status, headers, body = await self._post(http, content)
        except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout):
            raise _Fault(f"no whole answer within {self._timeout_s:g} s") from None
        except (httpx.TransportError, httpx.DecodingError) as problem:
            raise _Fault(_clean(_deepest(problem))) from None
        if 200 <= status < 300:
            return _read_answer(body)
        said = _clean(_message(body))
        if (status in PASSING or status >= 500) and "insufficient_quota" not in said:
            raise _Fault(f"HTTP {status} {said}".rstrip(), _retry_after(headers))
        raise EndpointRefused(status, self._refusal(status, headers, said)) from None

    async def _post(
        self, http: httpx.AsyncClient, content: bytes
    ) -> tuple[int, Mapping[str, str], bytes]:
        async with http.stream("POST", self._address, content=content) as response:
            # Few packed bytes can unpack to many gigabytes: nothing is unpacked here.
            if packed := _packed(response.headers):
                if response.is_success:
                    raise _Fault(f"an answer packed with {packed}, which was not asked for")
                return response.status_code, response.headers, b""
            body = bytearray()
            async for part in response.aiter_raw():
                body += part
                if len(body) > MAX_ANSWER_BYTES:
                    raise _Fault(f"an answer of more than {MAX_ANSWER_BYTES} bytes")
            return response.status_code, response.headers, bytes(body)

    def _refusal(self, status: int, headers: Mapping[str, str], said: str) -> str:
        answer = f"POST {self._address} answered {status}" + (f": {said}" if said else "")
        if 300 <= status < 400:
            there = _clean(headers.get("location", "elsewhere"))
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


def _packed(headers: Mapping[str, str]) -> str:
    """The content encoding, where there is one."""
    encoding = headers.get("content-encoding", "").strip().lower()
    return "" if encoding == "identity" else _clean(encoding, 40)


def _read_answer(body: bytes) -> Answer:
    try:
        # NaN and infinity are no JSON: they tell nothing, and are written to no file.
        data = json.loads(body, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise _Fault("an answer that is not JSON") from None
    try:
        choice = data["choices"][0]
        text = choice["message"].get("content")
    except (KeyError, IndexError, TypeError, AttributeError):
        said = _clean(_message(body)) if isinstance(data, dict) and "error" in data else ""
        raise _Fault("an answer without choices" + (f": {said}" if said else "")) from None
    if not isinstance(text, str | None):
        raise _Fault("an answer whose content is not text")
    usage = data.get("usage")
    count = usage if isinstance(usage, dict) else {}
    names = [data.get("model"), data.get("system_fingerprint")]
    return Answer(
        # A lone surrogate could be written to no file.
        text=_without_keys(text or "").encode("utf-8", "replace").decode(),
        finish_reason=finish if isinstance(finish := choice.get("finish_reason"), str) else "",
        tokens_read=_whole(count.get("prompt_tokens")),
        tokens_written=_whole(count.get("completion_tokens")),
        revision=_clean(" ".join(name for name in names if isinstance(name, str) and name)),
        logprobs=choice.get("logprobs"),
    )


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MAX_TOKENS_TOLD else None


def _message(body: bytes) -> str:
    """What a server says about an error, wherever it says it."""
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


def _without_keys(text: str) -> str:
    """A server may echo what it was sent."""
    for variable in KEY_VARIABLES:
        if key := os.environ.get(variable, "").strip():
            text = text.replace(key, f"({variable})")
    return text


def _clean(text: str, limit: int = 300) -> str:
    """One short line."""
    printable = (c if c.isprintable() else " " for c in _without_keys(text))
    line = " ".join("".join(printable).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


def _deepest(problem: BaseException) -> str:
    """httpx wraps what the system said; the system says it best."""
    seen: BaseException | None = problem
    while seen is not None:
        if isinstance(seen, OSError) and seen.strerror:
            code = seen.errno or 0  # below 0: name resolution, which has words of its own
            return os.strerror(code) if code > 0 else seen.strerror
        if isinstance(seen, BaseExceptionGroup):
            return _deepest(seen.exceptions[0])
        seen = seen.__cause__ or seen.__context__
    return str(problem) or type(problem).__name__


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from seconds or from a date."""
    text = headers.get("retry-after")
    if text is None:
        return None
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


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
