"""A real Kubernetes API server on loopback, where its programs are at hand; and recorded calls of
one, for where they are not.

``CHAOSOPS_KUBERNETES`` names a folder with etcd, kube-apiserver and kube-controller-manager. There
are no nodes: pods are made and never run.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from chaosops.core.errors import BadInput
from chaosops.live.kubernetes.api import OPERATOR, ApiRefused, KubeApi
from chaosops.live.kubernetes.audit import POLICY, AuditFile

PROGRAMS = os.environ.get("CHAOSOPS_KUBERNETES", "")
TOKEN = "operator"
_START_S = 60
_CONTROLLERS = "deployment-controller,replicaset-controller,namespace-controller"


@contextmanager
def api_server(folder: Path) -> Iterator[tuple[Path, Path]]:
    """The kubeconfig of its operator, and its audit log."""
    etcd, peer, secure, manager = (_free_port() for _ in range(4))
    store, audit = f"http://127.0.0.1:{etcd}", folder / "audit.jsonl"
    kubeconfig = _write_files(folder, secure)
    programs = {
        "etcd": {
            "data-dir": folder / "etcd",
            "listen-client-urls": store,
            "advertise-client-urls": store,
            "listen-peer-urls": f"http://127.0.0.1:{peer}",
            "log-level": "error",
            "unsafe-no-fsync": "true",
        },
        "kube-apiserver": {
            "etcd-servers": store,
            "bind-address": "127.0.0.1",
            "advertise-address": "127.0.0.1",
            "secure-port": secure,
            "cert-dir": folder / "certificates",
            "service-cluster-ip-range": "10.0.0.0/24",
            "service-account-issuer": "https://127.0.0.1",
            "service-account-key-file": folder / "accounts.key",
            "service-account-signing-key-file": folder / "accounts.key",
            "authorization-mode": "RBAC",
            "token-auth-file": folder / "tokens.csv",
            "disable-admission-plugins": "ServiceAccount",
            "audit-policy-file": folder / "policy.json",
            "audit-log-path": audit,
        },
        "kube-controller-manager": {
            "kubeconfig": kubeconfig,
            "bind-address": "127.0.0.1",
            "secure-port": manager,
            "cert-dir": folder / "certificates-manager",
            "leader-elect": "false",
            "controllers": _CONTROLLERS,
        },
    }
    started: list[subprocess.Popen[bytes]] = []
    try:
        for name, flags in programs.items():
            command = [f"{PROGRAMS}/{name}", *(f"--{key}={value}" for key, value in flags.items())]
            with (folder / f"{name}.log").open("wb") as log:
                started.append(subprocess.Popen(command, stdout=log, stderr=log))
            if name == "kube-apiserver":
                _await_ready(kubeconfig)
        yield kubeconfig, audit
    finally:
        for process in reversed(started):  # the API server needs its store until it has ended
            process.terminate()
            process.wait()


def _write_files(folder: Path, port: int) -> Path:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    (folder / "accounts.key").write_bytes(pem)
    (folder / "tokens.csv").write_text(f"{TOKEN},operator,operator,system:masters\n")
    (folder / "policy.json").write_text(json.dumps(POLICY))
    cluster = {
        "server": f"https://127.0.0.1:{port}",
        "certificate-authority": str(folder / "certificates/apiserver.crt"),
    }
    kubeconfig = folder / "kubeconfig"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "operator", "user": {"token": TOKEN}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "operator"}}],
    }
    kubeconfig.write_text(json.dumps(content))  # JSON is YAML
    return kubeconfig


def _await_ready(kubeconfig: Path) -> None:
    end = time.monotonic() + _START_S
    while True:
        try:
            with closing(KubeApi(kubeconfig)) as api:
                api.call("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view")
                return
        except (BadInput, OSError):  # its certificate is not written yet
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Recording:
    """Passes calls on to a real server, and notes them with their answers."""

    def __init__(self, api: KubeApi, audit: AuditFile) -> None:
        self._api = api
        self._audit = audit
        self.calls: list[dict[str, Any]] = []

    def call(
        self, method: str, path: str, body: object = None, author: str = OPERATOR
    ) -> dict[str, Any]:
        note: dict[str, Any] = {"method": method, "path": path, "body": body, "author": author}
        self.calls.append(note)
        try:
            answer = self._api.call(method, path, body, author)
        except ApiRefused as refused:
            note["refused"] = [refused.status, str(refused)]
            raise
        # Of most requests, the platform needs to know only that they were carried out.
        read = method == "GET" or path.endswith(("/token", "reviews"))
        note["answer"] = _short(answer) if read else {}
        return answer

    def trust(self, author: str, token: str) -> None:
        self._api.trust(author, token)

    def close(self) -> None:
        self._api.close()

    def events(self) -> list[dict[str, Any]]:
        events = [e for e in self._audit.events() if e["objectRef"].get("namespace") == "company"]
        self.calls.append({"audited": len(events)})
        return events


def _short(answer: dict[str, Any]) -> dict[str, Any]:
    """Without what the platform does not read: who manages fields, and a token that is spent."""
    text = json.dumps(answer)
    content: dict[str, Any] = json.loads(text)
    for one in (content, *content.get("items", ())):
        one.get("metadata", {}).pop("managedFields", None)
        one.get("status", {}).pop("conditions", None)
    if "token" in content.get("status", {}):
        content["status"]["token"] = "TOKEN"
    return content


class Replayed:
    """Answers as the server did, if it is asked the same in the same order."""

    def __init__(self, calls: Sequence[dict[str, Any]], audit: Sequence[dict[str, Any]]) -> None:
        self._calls = iter(calls)
        self._audit = audit

    def call(
        self, method: str, path: str, body: object = None, author: str = OPERATOR
    ) -> dict[str, Any]:
        note = next(self._calls)
        asked = {"method": method, "path": path, "body": body, "author": author}
        assert asked == {name: note.get(name) for name in asked}
        if "refused" in note:
            status, reason = note["refused"]
            raise ApiRefused(status, reason.removeprefix("the API server refused: "))
        answer: dict[str, Any] = note["answer"]
        return answer

    def trust(self, author: str, token: str) -> None:
        assert token == "TOKEN", author

    def close(self) -> None:
        assert next(self._calls, None) is None, "it was asked less than the real server"

    def events(self) -> list[dict[str, Any]]:
        return list(self._audit[: next(self._calls)["audited"]])
