"""Calls to a Kubernetes API server, by the operator or with the token of an author."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from chaosops.core.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    import httpx2
    from lightkube.config.kubeconfig import SingleConfig

NOT_FOUND, CONFLICT, FORBIDDEN = 404, 409, 403
OPERATOR = ""
_FAILED = 400
_TIMEOUT_S = 10.0


class ApiRefused(BadInput):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the API server refused: {reason}")
        self.status = status


class Api(Protocol):
    def call(
        self, method: str, path: str, body: object = None, author: str = OPERATOR
    ) -> dict[str, Any]:
        """A call and the object that it returns. Raises ``ApiRefused``."""
        ...

    def trust(self, author: str, token: str) -> None:
        """Calls of this author use this token from now on."""
        ...

    def close(self) -> None: ...


class KubeApi:
    """By a kubeconfig: the one that ``kubectl`` would use, or a file."""

    def __init__(self, kubeconfig: Path | None = None, context: str | None = None) -> None:
        try:
            from lightkube.config.kubeconfig import KubeConfig
            from lightkube.core.exceptions import ConfigError
        except ImportError:
            raise MissingExtra("a company on Kubernetes", "lightkube", "kubernetes") from None
        try:
            found = KubeConfig.from_file(kubeconfig) if kubeconfig else KubeConfig.from_env()
            config = found.get(context_name=context)
        except ConfigError as error:
            raise BadInput(f"no cluster to work with: {error}") from None
        if config is None:
            raise BadInput("no cluster to work with: the kubeconfig names no current context")
        self._config: SingleConfig = config
        self._clients = {OPERATOR: _client(config)}

    def trust(self, author: str, token: str) -> None:
        from lightkube.config.models import User

        # A certificate of the operator would be asked before the token.
        self._clients[author] = _client(self._config._replace(user=User(token=token)))

    def call(
        self, method: str, path: str, body: object = None, author: str = OPERATOR
    ) -> dict[str, Any]:
        import httpx2

        try:
            answer = self._clients[author].request(
                method, path, json=body, headers={"Content-Type": _content_type(method, body)}
            )
            content: dict[str, Any] = answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise BadInput(f"the API server does not answer {path}: {error}") from None
        if answer.status_code >= _FAILED:
            raise ApiRefused(answer.status_code, str(content.get("message", answer.reason_phrase)))
        return content

    def close(self) -> None:
        for client in self._clients.values():
            client.close()


def _client(config: SingleConfig) -> httpx2.Client:
    import httpx2
    from lightkube.config.client_adapter import Client, ConnectionParams

    return Client(config, ConnectionParams(timeout=httpx2.Timeout(_TIMEOUT_S)))


def _content_type(method: str, body: object) -> str:
    """A list of operations is a JSON patch; an object is merged into what is there."""
    if method != "PATCH":
        return "application/json"
    kind = "json-patch" if isinstance(body, list) else "merge-patch"
    return f"application/{kind}+json"
