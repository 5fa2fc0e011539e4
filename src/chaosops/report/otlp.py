"""Traces to a file, or to a server by OTLP over HTTP: Phoenix, Langfuse, Jaeger, a collector.

The file is OTLP's JSON, one trace a line, as an OpenTelemetry collector writes it. Servers get
Protocol Buffers, because not all of them read JSON.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from chaosops.core.errors import BadInput, MissingExtra
from chaosops.core.files import open_file, write_text
from chaosops.core.loopback import is_loopback
from chaosops.core.printable import one_line, short
from chaosops.policies.llm.spec import without_password

# The variables of every OpenTelemetry exporter. Those of traces come first.
HEADER_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
TIMEOUT_S = 30.0
_PATH = "/v1/traces"
_IDS = {"traceId", "spanId", "parentSpanId"}


def is_url(target: str) -> bool:
    return re.match(r"https?://", target, re.IGNORECASE) is not None


def check_target(target: str, taken: Iterable[Path] = ()) -> None:
    """Errors come before an episode is played. ``taken``: files that the same command uses."""
    if is_url(target):
        check_url(target)
        require_extra()
    elif not target.strip() or re.match(r"[a-z][a-z0-9+.-]+:/", target, re.IGNORECASE):
        raise _unknown_target(target)
    else:
        open_file(Path(target), "--otlp", taken)


def deliver(target: str, trace: Mapping[str, Any]) -> str:
    """Write or send a trace. Returns a line for the user."""
    if is_url(target):
        send_trace(target, trace)
        spans = trace["resourceSpans"][0]["scopeSpans"][0]["spans"]
        return f"sent: trace {spans[0]['traceId']} to {target}"
    write_trace(Path(target), trace)
    return f"written: {target}"


def check_url(url: str) -> str:
    """The address of traces. It must not hold a secret, because recordings contain the command.

    >>> check_url("http://127.0.0.1:6006"), check_url("http://127.0.0.1:4318/v1/traces")
    ('http://127.0.0.1:6006/v1/traces', 'http://127.0.0.1:4318/v1/traces')
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.query or parts.fragment:
        raise _unknown_target(url)
    if parts.username is not None or parts.password is not None:
        raise BadInput(
            f"--otlp must not hold a user or password, because recordings contain it; "
            f"set {HEADER_VARIABLES[1]} and write {parts.scheme}://{host}"
        )
    return url.rstrip("/").removesuffix(_PATH).rstrip("/") + _PATH


def _unknown_target(target: str) -> BadInput:
    shown = without_password(one_line(target))
    return BadInput(f"--otlp {short(shown, 80)}: expected http://HOST:PORT, or a file")


def require_extra() -> None:
    try:
        import httpx  # noqa: F401
        import opentelemetry.proto.trace.v1.trace_pb2  # noqa: F401
    except ImportError:
        raise MissingExtra("sending traces", "opentelemetry-proto", "otlp") from None


def write_trace(path: Path, trace: Mapping[str, Any]) -> None:
    write_text(path, json.dumps(trace, separators=(",", ":")) + "\n", "trace")


def send_trace(url: str, trace: Mapping[str, Any]) -> None:
    """Raises BadInput if the server does not take all of it."""
    require_extra()
    import httpx

    headers = {**_headers(), "Content-Type": "application/x-protobuf"}
    try:
        answer = httpx.post(
            check_url(url),
            content=to_protobuf(trace),
            headers=headers,
            timeout=TIMEOUT_S,
            trust_env=not is_loopback(url),
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        why = one_line(str(error)) or type(error).__name__
        raise BadInput(
            f"the trace was not sent to {url}: {why}; start the server, or write it to a file"
        ) from None
    if reason := _refusal(answer.status_code, answer.content):
        raise BadInput(f"{url} did not take the trace: {reason}")


def to_protobuf(trace: Mapping[str, Any]) -> bytes:
    """OTLP's ``ExportTraceServiceRequest``, which has the fields of ``TracesData``."""
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    content: bytes = ParseDict(_with_bytes(trace), TracesData()).SerializeToString()
    return content


def _with_bytes(node: Any) -> Any:
    """OTLP's JSON has ids in hexadecimal. Protocol Buffers expect Base64 there."""
    from base64 import b64encode

    if isinstance(node, Mapping):
        return {
            name: b64encode(bytes.fromhex(value)).decode() if name in _IDS else _with_bytes(value)
            for name, value in node.items()
        }
    return [_with_bytes(each) for each in node] if isinstance(node, list) else node


def _headers() -> dict[str, str]:
    """Such as the key of a server. Errors do not show what the variable holds."""
    for variable in HEADER_VARIABLES:
        if text := os.environ.get(variable, "").strip():
            pairs = [pair.partition("=") for pair in text.split(",")]
            headers = {name.strip(): unquote(value).strip() for name, _, value in pairs}
            for name, value in headers.items():
                if not re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", name, re.ASCII) or not value:
                    raise BadInput(f"{variable} cannot be read; write NAME=VALUE,NAME=VALUE")
                if not re.fullmatch(r"[ -~]+", value):
                    raise BadInput(f"{variable} holds characters that no header can have")
            return headers
    return {}


def _refusal(status: int, content: bytes) -> str:
    """Why a server refused a trace, or a part of it. Empty if it did not."""
    if status in (401, 403):
        return f"it wants a key (HTTP {status}); set {HEADER_VARIABLES[1]} (docs/otlp.md)"
    if status in (404, 405):
        return f"it takes no traces there (HTTP {status}); docs/otlp.md names usual addresses"
    if not 200 <= status < 300:
        return f"HTTP {status} {one_line(content[:200].decode(errors='replace'))}".rstrip()
    answer = _read_answer(content)
    if answer is None:
        said = short(one_line(content[:200].decode(errors="replace")))
        return f"it answers {said}, which is not OTLP; docs/otlp.md names usual addresses"
    partly = answer.partial_success
    if not partly.rejected_spans:
        return ""
    return f"it refused {partly.rejected_spans} spans: {one_line(partly.error_message)}"


def _read_answer(content: bytes) -> Any:
    """OTLP's ``ExportTraceServiceResponse``. Some servers answer with JSON whatever they are sent.
    None: it is something else, such as a web page."""
    from google.protobuf.json_format import ParseDict, ParseError
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    try:
        return ExportTraceServiceResponse.FromString(content)
    except DecodeError:
        pass
    try:
        data = json.loads(content)
        if not isinstance(data, dict):
            return None
        return ParseDict(data, ExportTraceServiceResponse(), ignore_unknown_fields=True)
    except (ValueError, RecursionError, ParseError):
        return None
