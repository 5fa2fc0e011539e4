"""What jobs and publishing share: the library, the token, errors in one line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from chaosops.core.errors import BadInput, ChaosOpsError, MissingExtra
from chaosops.core.loopback import PROXY_VARIABLES

MASK = "***"
LOGIN = "log in with: hf auth login, or set HF_TOKEN"
_TIMEOUT_S = 120.0  # the library has none
_REPO = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_CURES = {
    401: f"the token is wrong or has expired; {LOGIN}",
    402: "the account needs credit or another plan",
    403: "the token lacks this permission; make one with write access",
    404: "check the name, and that the token may see it",
    429: "too many requests; wait a few minutes",
}


class HubError(ChaosOpsError):
    """The hub refused, failed, or could not be reached."""


def require_hub(work: str) -> Any:
    """Import ``huggingface_hub`` with its telemetry off."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        import huggingface_hub
    except ImportError:
        raise MissingExtra(work, "huggingface_hub", "hub") from None
    return huggingface_hub


def endpoint() -> str:
    """Read at every use: the library reads it once, on import."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")


def find_token() -> str | None:
    token: str | None = require_hub("the hub").get_token()
    return token


def require_token(work: str) -> str:
    token = find_token()
    if token is None:
        raise BadInput(f"{work} needs a token of the hub; {LOGIN}")
    return token


def open_api(work: str, token: str | None) -> Any:
    hub = require_hub(work)
    with told_in_one_line(work, [token]):
        hub.utils.get_session().timeout = _TIMEOUT_S
    hub.utils.logging.set_verbosity_error()  # errors are reported by us
    return hub.HfApi(endpoint=endpoint(), token=token or False)


def require_repo(text: str, option: str) -> str:
    """
    >>> require_repo("me/overseer", "--repo")
    'me/overseer'
    """
    if not _REPO.fullmatch(text):
        raise BadInput(f"{option} {text!r}: write OWNER/NAME")
    return text


def scrubbed(text: str, secrets: Iterable[str | None]) -> str:
    """
    >>> scrubbed("Bearer hf_abc", ["hf_abc", None])
    'Bearer ***'
    """
    for secret in secrets:
        if secret:
            text = text.replace(secret, MASK)
    return text


@contextmanager
def told_in_one_line(work: str, secrets: Iterable[str | None] = ()) -> Iterator[None]:
    """Turn any error of the hub or the connection into a ``HubError`` that says what to do."""
    hub = require_hub(work)
    import httpx2

    try:
        yield
    except hub.errors.HfHubHTTPError as error:
        status = error.response.status_code
        said = error.server_message or error.response.reason_phrase
        cure = _CURES.get(status, "try again later" if status >= 500 else "")
        raise HubError(_line(f"{work}: the hub answers {status}, {said}", cure, secrets)) from None
    except hub.errors.OfflineModeIsEnabled:
        raise HubError(f"{work}: HF_HUB_OFFLINE is set; unset it") from None
    # The part of the library that uploads large files raises plain errors.
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, RuntimeError, ValueError) as error:
        cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
        said = ": ".join(
            dict.fromkeys(str(each).rstrip(".") or type(each).__name__ for each in (error, cause))
        )
        network = (httpx2.HTTPError, ConnectionError, TimeoutError)
        is_network = isinstance(error, network) or isinstance(cause, network)
        cure = f"check the connection to {endpoint()}" if is_network else ""
        raise HubError(_line(f"{work}: {said}", cure, secrets)) from None
    except ImportError as error:  # a kind of proxy that needs another package
        cure = f"change {PROXY_VARIABLES}"
        raise HubError(_line(f"{work}: {error}", cure, secrets)) from None


def _line(text: str, cure: str, secrets: Iterable[str | None]) -> str:
    flat = " ".join(text.split()).rstrip(".;")
    return scrubbed(f"{flat}; {cure}" if cure else flat, secrets)
