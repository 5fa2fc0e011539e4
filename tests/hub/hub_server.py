"""A small hub on loopback: it starts jobs, and its repositories take commits.

It answers what ``huggingface_hub`` 2.4 asks, and keeps everything it was sent.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from huggingface_hub import RepoCard

TOKEN = "hf_TheTokenThatNobodyMaySee"
USER = "ada"
LARGE = (".safetensors", ".png")


@dataclass
class Request:
    method: str
    path: str
    authorization: str
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body) if self.body else None


@dataclass
class HubServer:
    requests: list[Request] = field(default_factory=list)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)  # id: what was sent
    repos: dict[str, dict[str, bytes]] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)
    stored: dict[str, bytes] = field(default_factory=dict)  # large files by their sha256
    chunks: int = 0  # bytes that came in through xet
    refuse: dict[str, int] = field(default_factory=dict)  # recipe's name: status
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def sent(self, part: str = "") -> list[Request]:
        return [request for request in self.requests if part in request.path]


Answer = tuple[int, Any]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listener

    def _any(self) -> None:
        hub = self.server.hub
        body = self._read()
        request = Request(self.command, self.path, self.headers.get("Authorization", ""), body)
        with hub.lock:
            hub.requests.append(request)
        if self.path.startswith("/api/") and request.authorization != f"Bearer {TOKEN}":
            return self._send((401, {"error": "Invalid username or password."}))
        for method, pattern, answer in ROUTES:
            found = re.fullmatch(pattern, self.path)
            if found and method == self.command:
                return self._send(answer(hub, request, *found.groups()))
        return self._send((404, {"error": f"no such place: {self.path}"}))

    do_GET = do_POST = do_PUT = do_HEAD = _any  # noqa: N815

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send(self, answer: Answer) -> None:
        status, content = answer
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    hub: HubServer


def _who(hub: HubServer, request: Request) -> Answer:
    return 200, {"name": USER, "type": "user"}


def _start(hub: HubServer, request: Request, owner: str) -> Answer:
    spec = request.json()
    name = spec["labels"]["name"].removeprefix("chaosops-")
    if status := hub.refuse.get(name):
        return status, {"error": f"no room for {spec['flavor']}, {request.authorization}"}
    job_id = f"{len(hub.jobs):024x}"
    hub.jobs[job_id] = spec
    return 200, {
        "id": job_id,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "flavor": spec["flavor"],
        "labels": spec["labels"],
        "status": {"stage": "SCHEDULING", "message": None},
        "owner": {"id": "1", "name": owner, "type": "user"},
    }


def _create(hub: HubServer, request: Request) -> Answer:
    wanted = request.json()
    repo = f"{wanted['organization']}/{wanted['name']}"
    if wanted["organization"] != USER:
        return 403, {"error": f"no right to write to {wanted['organization']}"}
    if repo in hub.repos:
        return 409, {"error": "it is there already", "url": f"{hub.url}/{repo}"}
    hub.repos[repo] = {}
    if wanted.get("visibility") == "private":
        hub.private.add(repo)
    return 200, {"url": f"{hub.url}/{repo}"}


def _validate(hub: HubServer, request: Request) -> Answer:
    if not RepoCard(request.json()["content"]).data.to_dict():
        return 400, {"errors": [{"message": "no metadata"}]}
    return 200, {"errors": [], "warnings": []}


def _preupload(hub: HubServer, request: Request, repo: str) -> Answer:
    paths = [file["path"] for file in request.json()["files"]]
    return 200, {
        "files": [
            {
                "path": path,
                "uploadMode": "lfs" if path.endswith(LARGE) else "regular",
                "shouldIgnore": False,
            }
            for path in paths
        ]
    }


def _lfs_batch(hub: HubServer, request: Request, repo: str) -> Answer:
    places = [
        {**item, "actions": {"upload": {"href": f"{hub.url}/store/{item['oid']}"}}}
        for item in request.json()["objects"]
    ]
    return 200, {"transfer": "basic", "objects": places}


def _store(hub: HubServer, request: Request, oid: str) -> Answer:
    assert hashlib.sha256(request.body).hexdigest() == oid
    hub.stored[oid] = request.body
    return 200, b""


def _commit(hub: HubServer, request: Request, repo: str) -> Answer:
    files = hub.repos[repo]
    for line in request.body.splitlines():
        item = json.loads(line)
        value = item["value"]
        if item["key"] == "file":
            files[value["path"]] = base64.b64decode(value["content"])
        elif item["key"] == "lfsFile":
            # What came through xet is known by its hash alone.
            files[value["path"]] = hub.stored.get(value["oid"], value["oid"].encode())
    oid = hashlib.sha1(request.body).hexdigest()
    return 200, {"commitUrl": f"{hub.url}/{repo}/commit/{oid}", "commitOid": oid}


def _xet_token(hub: HubServer, request: Request, repo: str) -> Answer:
    return 200, {"casUrl": f"{hub.url}/cas", "exp": 9_999_999_999, "accessToken": "for-xet"}


def _xet_chunks(hub: HubServer, request: Request, digest: str) -> Answer:
    hub.chunks += len(request.body)
    return 200, {"was_inserted": True}


def _xet_shard(hub: HubServer, request: Request) -> Answer:
    return 200, {"type": "result", "result": 1}


_NAME = r"([\w.-]+/[\w.-]+)"
ROUTES: list[tuple[str, str, Any]] = [
    ("GET", "/api/whoami-v2", _who),
    ("POST", r"/api/jobs/([\w-]+)", _start),
    ("POST", "/api/repos/create", _create),
    ("POST", "/api/validate-yaml", _validate),
    ("POST", rf"/api/models/{_NAME}/preupload/main", _preupload),
    ("POST", rf"/{_NAME}\.git/info/lfs/objects/batch", _lfs_batch),
    ("PUT", r"/store/(\w+)", _store),
    ("POST", rf"/api/models/{_NAME}/commit/main", _commit),
    ("GET", rf"/api/models/{_NAME}/xet-write-token/main", _xet_token),
    ("POST", r"/cas/v1/xorbs/default/(\w+)", _xet_chunks),
    ("POST", "/cas/v2/shards", _xet_shard),
]


@contextmanager
def hub_server() -> Iterator[HubServer]:
    listener = _Listener(("127.0.0.1", 0), _Handler)
    hub = HubServer(url=f"http://127.0.0.1:{listener.server_address[1]}")
    listener.hub = hub
    serve = threading.Thread(target=listener.serve_forever, args=(0.02,), daemon=True)
    serve.start()
    try:
        yield hub
    finally:
        listener.shutdown()
        listener.server_close()
