"""An OpenAI-compatible server on loopback that misbehaves on request.

Its replies are a function of the conversation alone: it reads the forms and names in the
prompt and takes one by the conversation's hash, so two runs can be compared word for word.
"""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
Behaviour = Callable[["Handler", Body], None]


def legal_reply(body: Body) -> str:
    """One of the actions that the prompt offers."""
    system = body["messages"][0]["content"]
    number = int(hashlib.sha256(json.dumps(body["messages"]).encode()).hexdigest(), 16)
    names = {
        head: line.split(": ", 1)[1].split(", ")
        for line in system.splitlines()
        for head in ("Services", "Agents", "Failures")
        if line.startswith(head + ": ")
    }
    forms = [line.split(" or ")[0] for line in system.splitlines() if line.startswith('{"action"')]
    if not forms:
        return "yes"
    form = forms[number % len(forms)]
    for word, head in (("SERVICE", "Services"), ("AGENT", "Agents"), ("FAILURE", "Failures")):
        if word in form:
            form = form.replace(word, names[head][number // 97 % len(names[head])])
    wire = json.loads(form.replace('"replicas":N', '"replicas":3').replace("TEXT", "on it"))
    if "response_format" in body:
        schema = body["response_format"]["json_schema"]["schema"]
        wire = dict.fromkeys(schema["required"]) | wire
    return json.dumps(wire)


def completion(text: str | None, **more: Any) -> Body:
    message = {"role": "assistant", "content": text}
    return {
        "model": "fake-1",
        "system_fingerprint": "fp_7",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    } | more


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or every answer waits 40 ms for an acknowledgement
    server: _Listener

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.owner.next_behaviour(body, self)(self, body)

    def send(self, status: int, content: Body | bytes, **headers: str) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *args: object) -> None:
        pass


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    owner: FaultyServer

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that gives up is part of the game

    def process_request(self, request: Any, client_address: Any) -> None:
        self.owner.connections.append(request)
        super().process_request(request, client_address)


class FaultyServer:
    """``script``: what happens to the next requests, in order of their arrival."""

    def __init__(self) -> None:
        self.script: list[Behaviour] = []
        self.always: Behaviour = answer
        self.seen: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.connections: list[socket.socket] = []
        self._lock = threading.Lock()
        self._port = 0
        self._listener: _Listener | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def next_behaviour(self, body: Body, handler: Handler) -> Behaviour:
        with self._lock:
            self.seen.append(body)
            self.headers.append(dict(handler.headers))
            self.times.append(time.monotonic())
            return self.script.pop(0) if self.script else self.always

    def start(self) -> None:
        listener = _Listener(("127.0.0.1", self._port), Handler)
        listener.owner = self
        self._port = listener.server_address[1]
        self._listener = listener
        serve = lambda: listener.serve_forever(poll_interval=0.02)  # noqa: E731
        threading.Thread(target=serve, daemon=True).start()

    def stop(self) -> None:
        """Refuse what comes, and cut what is under way."""
        assert self._listener is not None
        self._listener.shutdown()
        self._listener.server_close()
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.connections.clear()

    def down_for(self, seconds: float) -> threading.Thread:
        self.stop()

        def come_back() -> None:
            time.sleep(seconds)
            self.start()

        thread = threading.Thread(target=come_back)
        thread.start()
        return thread


@contextmanager
def faulty_server() -> Iterator[FaultyServer]:
    server = FaultyServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()


def answer(handler: Handler, body: Body) -> None:
    handler.send(200, completion(legal_reply(body)))


def say(text: str | None, **more: Any) -> Behaviour:
    return lambda handler, body: handler.send(200, completion(text, **more))


def status(code: int, message: str = "no", **headers: str) -> Behaviour:
    error = {"error": {"message": message}}
    return lambda handler, body: handler.send(code, error, **headers)


def raw(content: bytes, code: int = 200) -> Behaviour:
    return lambda handler, body: handler.send(code, content)


def echo_key(code: int) -> Behaviour:
    def behave(handler: Handler, body: Body) -> None:
        sent = handler.headers["Authorization"]
        handler.send(code, {"error": {"message": f"your header was {sent}"}})

    return behave


def cut(handler: Handler, body: Body) -> None:
    """Half of a good answer, then nothing."""
    data = json.dumps(completion(legal_reply(body))).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[: len(data) // 2])
    handler.wfile.flush()
    handler.hang_up()


def slam(handler: Handler, body: Body) -> None:
    handler.hang_up()


def trickle(handler: Handler, body: Body) -> None:
    """A byte now and then: no single read takes long, the answer never ends."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    drip(handler, b" ")


def trickle_headers(handler: Handler, body: Body) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    drip(handler, b"x")


def drip(handler: Handler, byte: bytes) -> None:
    for _ in range(600):
        try:
            handler.wfile.write(byte)
            handler.wfile.flush()
        except OSError:
            break
        time.sleep(0.05)
    handler.hang_up()


def refuse(*fields: str) -> Behaviour:
    """Know nothing of these fields of a request."""

    def behave(handler: Handler, body: Body) -> None:
        if found := [field for field in fields if field in json.dumps(body)]:
            handler.send(400, {"error": {"message": f"{found[0]} is not supported"}})
        else:
            answer(handler, body)

    return behave
